if (navigator.clipboard) for (const line of document.querySelectorAll(".command")) {
  const button = document.createElement("button");
  const what = line.querySelector("code").textContent;
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", "Copy " + what);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(what);
    button.textContent = "Copied";
  });
  line.append(button);
}
