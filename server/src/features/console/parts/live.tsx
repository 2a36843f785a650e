/** Parts of a page that a script keeps up to date. */
import type { ComponentChildren } from 'preact'

interface LiveProps {
  readonly id: string
  /** False: the part is not kept up to date. */
  readonly on: boolean
  readonly children: ComponentChildren
}

/** The script replaces its content in place. Elements with an id are kept. */
export function Live({ id, on, children }: LiveProps) {
  return (
    <div id={id} data-live={on ? '' : undefined}>
      {children}
    </div>
  )
}

/** Where the script says that the page is no longer kept up to date. */
export function LiveStatus() {
  return <p id="live-status" class="live-status" role="status" />
}
