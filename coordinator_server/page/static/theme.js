// Before the first paint: the theme that the viewer has chosen here. Without a choice it is that of the system.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
} catch { /* storage may be forbidden */ }
