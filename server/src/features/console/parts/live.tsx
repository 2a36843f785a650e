/** Parts of a page that a script keeps up to date. */
import type { ComponentChildren } from 'preact'
import { useWorkspace } from '../page.tsx'

/**
 * A part of a page whose content a script replaces in place. Elements with an id are kept.
 * @param on false for a part that is not kept up to date
 */
export function Live({ id, on, children }: { id: string; on: boolean; children: ComponentChildren }) {
  return (
    <div id={id} data-live={on ? '' : undefined}>
      {children}
    </div>
  )
}

/** The place in which the script says that the page is no longer kept up to date. It names the stream by which the script hears of events. */
export function LiveStatus() {
  return <p id="live-status" class="live-status" role="status" data-events={useWorkspace().at.events} />
}
