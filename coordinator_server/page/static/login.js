// What the address says about a login: why the last one failed, and where it leads.
{
  const query = new URLSearchParams(location.search);
  const why = document.getElementById("why");
  if (query.get("to")) document.querySelector("input[name=to]").value = query.get("to");
  if (query.get("why")) { why.textContent = query.get("why"); why.hidden = false; }
}
