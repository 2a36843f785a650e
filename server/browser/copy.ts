/** Copy buttons: there only where scripts run, and where the browser lets them copy, which it does over https and on one's own machine alone. */

const SHOWN_MS = 1500

document.addEventListener('click', async (event) => {
  const button = (event.target as Element).closest<HTMLButtonElement>('button[data-copy]')
  if (!button) return
  const said = await navigator.clipboard.writeText(button.dataset.copy ?? '').then(
    () => 'Copied',
    () => 'Not copied',
  )
  button.textContent = said
  // The button's own name hides its text from whoever listens.
  spoken.textContent = said
  setTimeout(() => {
    button.textContent = 'Copy'
    spoken.textContent = ''
  }, SHOWN_MS)
})

const spoken = document.createElement('p')
spoken.className = 'spoken'
spoken.setAttribute('role', 'status')
document.body.append(spoken)

/** Shows the buttons in a part of the page that has just come. */
function show(root: ParentNode): void {
  if (!('clipboard' in navigator)) return
  for (const button of root.querySelectorAll<HTMLButtonElement>('button[data-copy]')) button.hidden = false
}

document.addEventListener('part-replaced', (event) => show(event.target as Element))
show(document)

export {}
