// Before the modules of the page are there: the question of the view.
window.early = {
  /** How many columns a picture has: about as many as it may have pixels, which nothing has to be laid out for. */
  columns: () => Math.min(4000, Math.ceil(innerWidth / 100) * 100),
};

{
  // What a view asks first, and what of its address is in the question. api.js takes the answer if it asks the same.
  const questions = {
    "/": ["groups", "q", "sort", "desc", "first"],
    "/group": ["picture", "id", "from", "to", "lane"],
    "/clients": ["clients", "q", "past"],
    "/topics": ["topics", "q"],
    "/transactions": ["transactions"],
    "/shares": ["shares"],
    "/log": ["log"],
  };
  const [name, ...asked] = questions[location.pathname] ?? [];
  if (name) {
    const query = new URLSearchParams([...new URLSearchParams(location.search)].filter(([key, value]) => asked.includes(key) && value));
    if (name === "picture") query.set("columns", window.early.columns());
    query.sort();
    const url = `/api/${name}?${query}`;
    const answer = fetch(url);
    // api.js says what went wrong.
    answer.catch(() => {});
    window.early.question = { url, answer };
  }
}
