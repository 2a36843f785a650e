/** Keeps parts of a page up to date: asks for the page again every few seconds, and puts in place what has changed of the parts marked `data-live`. */

const EVERY_MS = 3000
const SLOWEST_MS = 60_000

let waitMs = EVERY_MS

async function refresh(): Promise<void> {
  const response = await fetch(location.href, { headers: { accept: 'text/html' }, redirect: 'error' })
  if (!response.ok) throw new Error(`answered ${response.status}`)
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html')
  for (const part of document.querySelectorAll<HTMLElement>('[data-live]')) {
    const next = fresh.getElementById(part.id)
    if (!next || next.outerHTML === part.dataset.shown) continue
    // Whoever is using a part keeps it.
    if (part.contains(document.activeElement)) continue
    const shown = next.outerHTML
    part.replaceWith(next)
    next.dataset.shown = shown
    next.dispatchEvent(new Event('part-replaced', { bubbles: true }))
  }
}

async function again(): Promise<void> {
  if (document.visibilityState === 'visible') {
    // Whoever does not answer is asked less and less.
    waitMs = await refresh().then(
      () => EVERY_MS,
      () => Math.min(waitMs * 2, SLOWEST_MS),
    )
  }
  setTimeout(again, waitMs)
}

setTimeout(again, waitMs)

export {}
