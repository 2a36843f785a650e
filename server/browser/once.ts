/** Submits a form once: a second click before the answer arrives would repeat the action. */

/** After this time a second submission counts as intended. */
const BLOCKED_MS = 10_000

let submittedAt = new WeakMap<EventTarget, number>()

document.addEventListener('submit', (event) => {
  const form = event.target as HTMLFormElement
  // Another script handles this form's submission.
  if (event.defaultPrevented || form.method !== 'post') return
  const now = performance.now()
  const last = submittedAt.get(form)
  if (last !== undefined && now - last < BLOCKED_MS) event.preventDefault()
  else submittedAt.set(form, now)
})

// A page that the browser restores from its cache may submit its forms again.
addEventListener('pageshow', () => {
  submittedAt = new WeakMap()
})

export {}
