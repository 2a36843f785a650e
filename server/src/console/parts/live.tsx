/** Parts of a page that are kept up to date in browsers with scripts. */
import type { ComponentChildren } from 'preact'

interface LiveProps {
  readonly id: string
  /** False: it stays as it is. */
  readonly on: boolean
  readonly children: ComponentChildren
}

/** Refreshed in place. What of it has an id of its own is known again, and kept. */
export function Live({ id, on, children }: LiveProps) {
  return (
    <div id={id} data-live={on ? '' : undefined}>
      {children}
    </div>
  )
}

/** Where it is told, politely, that the page is not kept up to date any more. */
export function LiveStatus() {
  return <p id="live-status" class="live-status" role="status" />
}
