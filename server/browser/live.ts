/**
 * Keeps parts of a page up to date: asks for the page again every few seconds, and changes what has changed within the parts
 * marked `data-live`. Elements that stay are kept, so that focus, scrolling and what is open stay with them.
 */

const EVERY_MS = 3000
const SLOWEST_MS = 60_000
/** What takes longer is no answer: a connection that broke may be silent for many minutes. */
const LONGEST_MS = 10_000

/** Failures in a row before it is told: a single one is nothing to speak of. */
const TOLD_AFTER = 3

let failures = 0

/** Thrown when there is no use in asking again. */
class Ended extends Error {}

async function refresh(signal: AbortSignal): Promise<void> {
  const response = await fetch(location.href, { headers: { accept: 'text/html' }, redirect: 'manual', signal })
  // Redirects lead to where one signs in.
  if (response.type === 'opaqueredirect') {
    throw new Ended('You are signed out, and this page is no longer kept up to date. Load it again to sign in.')
  }
  if (response.status === 403 || response.status === 404) {
    throw new Ended('This page is not there for you any more, and is no longer kept up to date.')
  }
  if (!response.ok) throw new Error(`answered ${response.status}`)
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html')
  for (const part of document.querySelectorAll<HTMLElement>('[data-live]')) {
    const next = fresh.getElementById(part.id)
    if (!next || isHeld(part, next)) continue
    keepPlace(part, () => bring(part, next))
    part.dispatchEvent(new Event('part-replaced', { bubbles: true }))
  }
}

/** Whoever marks text in a part, or has the focus on something that goes, keeps it as it is. */
function isHeld(part: HTMLElement, next: HTMLElement): boolean {
  const selection = getSelection()
  if (selection && !selection.isCollapsed && selection.containsNode(part, true)) return true
  const focused = document.activeElement
  if (!focused || !part.contains(focused)) return false
  const kept = focused.closest('[id]')
  return kept !== null && kept !== part && !next.querySelector(`#${CSS.escape(kept.id)}`)
}

/** What is read, or pointed at, stays where it is on the screen while other things come in above it. */
function keepPlace(part: HTMLElement, change: () => void): void {
  const marks = [...part.querySelectorAll<HTMLElement>('[id]')]
  const isScrolledInto = part.getBoundingClientRect().top < 0
  const read = isScrolledInto ? marks.find((mark) => mark.getBoundingClientRect().top >= 0) : undefined
  const mark = marks.findLast((one) => one.matches(':hover')) ?? read
  const before = mark?.getBoundingClientRect().top
  change()
  if (mark?.isConnected && before !== undefined) scrollBy(0, mark.getBoundingClientRect().top - before)
}

/** These are changed here, and not by the server. */
const OWN_ATTRIBUTES: ReadonlySet<string> = new Set(['open', 'hidden'])

/** Makes `old` what `next` is. */
function bring(old: Element, next: Element): void {
  for (const { name } of [...old.attributes]) {
    if (!next.hasAttribute(name) && !OWN_ATTRIBUTES.has(name)) old.removeAttribute(name)
  }
  for (const { name, value } of next.attributes) {
    if (old.getAttribute(name) !== value && !OWN_ATTRIBUTES.has(name)) old.setAttribute(name, value)
  }
  const wanted = [...next.childNodes]
  const names = new Set(wanted.map(nameOf))
  for (const child of [...old.childNodes]) if (nameOf(child) && !names.has(nameOf(child))) child.remove()
  let place: ChildNode | null = old.firstChild
  for (const node of wanted) {
    // New ones come in between those that stay, which are not touched by that.
    if (place && isSame(place, node)) {
      const following: ChildNode | null = place.nextSibling
      bringNode(place, node)
      place = following
    } else {
      const known = namedChild(old, nameOf(node))
      old.insertBefore(known ?? document.importNode(node, true), place)
      if (known) bringNode(known, node)
    }
  }
  while (place) {
    const following: ChildNode | null = place.nextSibling
    place.remove()
    place = following
  }
}

function bringNode(old: ChildNode, next: ChildNode): void {
  if (old instanceof Element && next instanceof Element) bring(old, next)
  else if (old.nodeValue !== next.nodeValue) old.nodeValue = next.nodeValue
}

function isSame(old: ChildNode, next: ChildNode): boolean {
  return old.nodeName === next.nodeName && nameOf(old) === nameOf(next)
}

/** Elements with an id are known again by it. */
function nameOf(node: ChildNode): string {
  return node instanceof Element ? node.id : ''
}

function namedChild(parent: Element, name: string): Element | undefined {
  return name === '' ? undefined : [...parent.children].find(({ id }) => id === name)
}

/** To screen readers it is told when they have nothing else to say. */
function tell(text: string): void {
  const place = document.getElementById('live-status')
  if (place && place.textContent !== text) place.textContent = text
}

async function again(): Promise<void> {
  if (!document.querySelector('[data-live]')) return
  if (document.visibilityState === 'visible') {
    const asking = new AbortController()
    const timer = setTimeout(() => asking.abort(), LONGEST_MS)
    try {
      await refresh(asking.signal)
      failures = 0
      tell('')
    } catch (error) {
      if (error instanceof Ended) return tell(error.message)
      failures++
      if (failures >= TOLD_AFTER) tell('The service does not answer: this page may not be up to date.')
    } finally {
      clearTimeout(timer)
    }
  }
  // Whoever does not answer is asked less and less.
  setTimeout(again, Math.min(EVERY_MS * 2 ** failures, SLOWEST_MS))
}

setTimeout(again, EVERY_MS)

export {}
