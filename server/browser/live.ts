/**
 * Keeps parts of a page up to date: loads the page again when the service tells that something happened, or every few seconds where it does not tell.
 * Applies the changes within the parts marked `data-live`. Unchanged elements stay in place, and with them focus, scroll position and open details.
 */

const INTERVAL_MS = 3000
/** The interval while the service tells of events: what is no event, such as a new claim that waits, is seen within it. */
const TOLD_INTERVAL_MS = 10_000
const MAX_INTERVAL_MS = 60_000
/** A broken connection may stay silent for many minutes. */
const TIMEOUT_MS = 10_000

/** The page shows a message after this many failures in a row, because a single failure does not matter. */
const SHOWN_AFTER_FAILURES = 3

let failures = 0

/** Thrown when further requests would fail, too. */
class Ended extends Error {}

async function refresh(signal: AbortSignal): Promise<void> {
  const response = await fetch(location.href, { headers: { accept: 'text/html' }, redirect: 'manual', signal })
  // The only redirect leads to the sign-in page.
  if (response.type === 'opaqueredirect') {
    throw new Ended('You are signed out, and this page is no longer updated. Load it again to sign in.')
  }
  if (response.status === 403 || response.status === 404) {
    throw new Ended('You no longer have access to this page, and it is no longer updated.')
  }
  if (!response.ok) throw new Error(`answered ${response.status}`)
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html')
  document.title = fresh.title
  for (const part of document.querySelectorAll<HTMLElement>('[data-live]')) {
    const next = fresh.getElementById(part.id)
    if (!next || isHeld(part, next)) continue
    keepScrollPosition(part, () => update(part, next))
    part.dispatchEvent(new Event('part-replaced', { bubbles: true }))
  }
}

/** True while the person selects text in the part, or has the focus on an element that the update would remove. */
function isHeld(part: HTMLElement, next: HTMLElement): boolean {
  const selection = getSelection()
  if (selection && !selection.isCollapsed && selection.containsNode(part, true)) return true
  const focused = document.activeElement
  if (!focused || !part.contains(focused)) return false
  const named = focused.closest('[id]')
  return named !== null && named !== part && !next.querySelector(`#${CSS.escape(named.id)}`)
}

/** Keeps the element that the person reads or points at in its place on the screen when elements above it change. */
function keepScrollPosition(part: HTMLElement, change: () => void): void {
  const marks = [...part.querySelectorAll<HTMLElement>('[id]')]
  const isScrolledInto = part.getBoundingClientRect().top < 0
  const read = isScrolledInto ? marks.find((mark) => mark.getBoundingClientRect().top >= 0) : undefined
  const mark = marks.findLast((one) => one.matches(':hover')) ?? read
  const before = mark?.getBoundingClientRect().top
  change()
  if (mark?.isConnected && before !== undefined) scrollBy(0, mark.getBoundingClientRect().top - before)
}

/** The browser changes these attributes, and an update from the server must not reset them. */
const LOCAL_ATTRIBUTES: ReadonlySet<string> = new Set(['open', 'hidden'])

/** Changes `old` so that it equals `next`. */
function update(old: Element, next: Element): void {
  updateAttributes(old, next)
  updateChildren(old, next)
}

function updateAttributes(old: Element, next: Element): void {
  for (const { name } of [...old.attributes]) {
    if (!next.hasAttribute(name) && !LOCAL_ATTRIBUTES.has(name)) old.removeAttribute(name)
  }
  for (const { name, value } of next.attributes) {
    if (old.getAttribute(name) !== value && !LOCAL_ATTRIBUTES.has(name)) old.setAttribute(name, value)
  }
}

function updateChildren(old: Element, next: Element): void {
  const wanted = [...next.childNodes]
  const ids = new Set(wanted.map(idOf))
  for (const child of [...old.childNodes]) if (idOf(child) && !ids.has(idOf(child))) child.remove()
  let current: ChildNode | null = old.firstChild
  for (const node of wanted) {
    // Inserts new nodes between those that stay, without touching those.
    if (current && isSame(current, node)) {
      const following: ChildNode | null = current.nextSibling
      updateNode(current, node)
      current = following
    } else {
      const known = childWithId(old, idOf(node))
      old.insertBefore(known ?? document.importNode(node, true), current)
      if (known) updateNode(known, node)
    }
  }
  while (current) {
    const following: ChildNode | null = current.nextSibling
    current.remove()
    current = following
  }
}

function updateNode(old: ChildNode, next: ChildNode): void {
  if (old instanceof Element && next instanceof Element) update(old, next)
  else if (old.nodeValue !== next.nodeValue) old.nodeValue = next.nodeValue
}

function isSame(old: ChildNode, next: ChildNode): boolean {
  return old.nodeName === next.nodeName && idOf(old) === idOf(next)
}

/** An element with an id is recognized by it. */
function idOf(node: ChildNode): string {
  return node instanceof Element ? node.id : ''
}

function childWithId(parent: Element, wanted: string): Element | undefined {
  return wanted === '' ? undefined : [...parent.children].find(({ id }) => id === wanted)
}

/** The element is a polite live region: screen readers announce the text when they are idle. */
function showStatus(text: string): void {
  const status = document.getElementById('live-status')
  if (status && status.textContent !== text) status.textContent = text
}

let timer: ReturnType<typeof setTimeout> | undefined
let lastAt = Number.NEGATIVE_INFINITY
let isPolling = false
/** True if something happened that the page does not show yet. */
let isDue = false
/** True while this tab, or another one of this browser, hears of events. */
let isTold = false
let stopListening = () => {}

async function poll(): Promise<void> {
  if (!document.querySelector('[data-live]')) return stopListening()
  if (document.visibilityState === 'visible') {
    const controller = new AbortController()
    const limit = setTimeout(() => controller.abort(), TIMEOUT_MS)
    isPolling = true
    isDue = false
    lastAt = performance.now()
    try {
      await refresh(controller.signal)
      failures = 0
      showStatus('')
    } catch (error) {
      if (error instanceof Ended) {
        stopListening()
        return showStatus(error.message)
      }
      failures++
      if (failures >= SHOWN_AFTER_FAILURES) showStatus('The service does not answer: this page may not be up to date.')
    } finally {
      clearTimeout(limit)
      isPolling = false
    }
  }
  // Polls less often with each failure.
  const usual = failures === 0 && isTold && !isDue ? TOLD_INTERVAL_MS : INTERVAL_MS * 2 ** failures
  timer = setTimeout(poll, Math.min(usual, MAX_INTERVAL_MS))
}

/** Polls at once, or soon if the last time was a moment ago. A service that does not answer is asked no more often. */
function pollSoon(): void {
  isDue = true
  if (isPolling || failures > 0 || timer === undefined || document.visibilityState !== 'visible') return
  clearTimeout(timer)
  timer = setTimeout(poll, Math.max(0, lastAt + INTERVAL_MS - performance.now()))
}

type Heard = 'open' | 'event' | 'lost'

/**
 * Listens to events. One tab has the stream for all tabs of the browser, which keeps few connections to a host; another one takes over when it closes.
 */
function listen(address: string): void {
  // Browsers have locks over https and on this machine only.
  if (!navigator.locks) return
  const channel = new BroadcastChannel(address)
  const ending = new AbortController()
  let source: EventSource | undefined
  let again: ReturnType<typeof setTimeout> | undefined

  function hear(heard: Heard): void {
    isTold = heard !== 'lost'
    pollSoon()
  }
  function tell(heard: Heard): void {
    channel.postMessage(heard)
    hear(heard)
  }
  channel.onmessage = ({ data }: MessageEvent<Heard | 'asks'>) => {
    if (data !== 'asks') hear(data)
    else if (source?.readyState === EventSource.OPEN) channel.postMessage('open')
  }
  channel.postMessage('asks')

  function open(): void {
    const opened = new EventSource(address)
    source = opened
    opened.onopen = () => tell('open')
    opened.onerror = () => {
      tell('lost')
      // A browser connects again where a connection broke, and never after a refusal, such as that of a proxy while the service starts.
      if (opened.readyState === EventSource.CLOSED) again = setTimeout(open, MAX_INTERVAL_MS)
    }
    for (const type of ['claim.decided', 'gap']) opened.addEventListener(type, () => tell('event'))
  }
  async function lead(): Promise<void> {
    open()
    await new Promise((resolve) => ending.signal.addEventListener('abort', resolve))
    clearTimeout(again)
    source?.close()
  }
  stopListening = () => {
    ending.abort()
    channel.close()
  }
  navigator.locks.request(address, { signal: ending.signal }, lead).catch(() => {})
}

document.addEventListener('visibilitychange', () => {
  if (isDue) pollSoon()
})
const events = document.getElementById('live-status')?.dataset.events
if (events !== undefined) listen(events)
timer = setTimeout(poll, INTERVAL_MS)

export {}
