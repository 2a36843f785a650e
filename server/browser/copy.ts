/** Copy buttons: shows them where the browser permits copying, which it does over https and on localhost. */

const SHOWN_MS = 1500

document.addEventListener('click', async (event) => {
  const button = (event.target as Element).closest<HTMLButtonElement>('button[data-copy]')
  if (!button) return
  const result = await navigator.clipboard.writeText(button.dataset.copy ?? '').then(
    () => 'Copied',
    () => 'Not copied',
  )
  button.dataset.text ??= button.textContent ?? ''
  button.textContent = result
  // Screen readers announce the result here, because the button's aria-label hides its text from them.
  spoken.textContent = result
  setTimeout(() => {
    button.textContent = button.dataset.text ?? ''
    spoken.textContent = ''
  }, SHOWN_MS)
})

const spoken = document.createElement('p')
spoken.className = 'spoken'
spoken.setAttribute('role', 'status')
document.body.append(spoken)

/** Shows the buttons in a new part of the page. */
function show(root: ParentNode): void {
  if (!('clipboard' in navigator)) return
  for (const button of root.querySelectorAll<HTMLButtonElement>('button[data-copy]')) button.hidden = false
}

document.addEventListener('part-replaced', (event) => show(event.target as Element))
show(document)

export {}
