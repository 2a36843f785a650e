/** Child processes that may be idle. */
import type { ChildProcess } from 'node:child_process'

/** Whether this process goes on for the child's sake. */
export function hold(child: ChildProcess, isHeld: boolean): void {
  const handles = [child, child.channel, child.stdout, child.stderr] as readonly ({
    ref(): void
    unref(): void
  } | null)[]
  for (const handle of handles) {
    if (isHeld) handle?.ref()
    else handle?.unref()
  }
}
