/** A form is sent once: a second click while its answer is on the way would do the same again. */

/** Whoever waits longer than this may mean it. */
const WITHIN_MS = 10_000

let sent = new WeakMap<EventTarget, number>()

document.addEventListener('submit', (event) => {
  const form = event.target as HTMLFormElement
  // A script of the form's own sends it, in its time.
  if (event.defaultPrevented || form.method !== 'post') return
  const now = performance.now()
  const last = sent.get(form)
  if (last !== undefined && now - last < WITHIN_MS) event.preventDefault()
  else sent.set(form, now)
})

// Back on a page that the browser has kept, it may be sent again.
addEventListener('pageshow', () => {
  sent = new WeakMap()
})

export {}
