/** Copy buttons: there only where scripts run. */

const SHOWN_MS = 1500

document.addEventListener('click', async (event) => {
  const button = (event.target as Element).closest<HTMLButtonElement>('button[data-copy]')
  if (!button) return
  const said = await navigator.clipboard.writeText(button.dataset.copy ?? '').then(
    () => 'Copied',
    () => 'Not copied',
  )
  button.textContent = said
  setTimeout(() => {
    button.textContent = 'Copy'
  }, SHOWN_MS)
})

/** Shows the buttons in a part of the page that has just come. */
function show(root: ParentNode): void {
  for (const button of root.querySelectorAll<HTMLButtonElement>('button[data-copy]')) button.hidden = false
}

document.addEventListener('part-replaced', (event) => show(event.target as Element))
show(document)

export {}
