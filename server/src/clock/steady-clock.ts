/**
 * A monotonic clock of this host, in milliseconds, that goes on while the machine is suspended. Only its rate matters, not what it shows.
 */
import { uptime } from 'node:os'

/** Readings of the operating system's clocks, in milliseconds. */
export interface SystemClocks {
  /** The monotonic clock, which may or may not count the time in which the machine is suspended. */
  monotonic(): number
  /** The time since the machine started, with suspensions, on Linux, macOS and Windows. It is not more exact than a second. */
  uptime(): number
  /** The system's time of day, which anybody may set. */
  wall(): number
}

const SYSTEM: SystemClocks = {
  monotonic: () => performance.timeOrigin + performance.now(),
  uptime: () => uptime() * 1000,
  wall: Date.now,
}

const MOVED_MS = 1000

export function steadyClock({ monotonic, uptime, wall }: SystemClocks = SYSTEM): () => number {
  const apartAtStart = uptime() - monotonic()
  let wallOffsetMs = wall() - monotonic()
  let last = monotonic()
  /** The time that passed by the uptime, but not by the monotonic clock. */
  let suspendedMs = 0

  /** Compares the monotonic clock with the uptime, which is too coarse to be read alone, and costs a system call. */
  function compareUptime(at: number): void {
    const apartMs = uptime() - at - apartAtStart
    if (Math.abs(apartMs - suspendedMs) > MOVED_MS) suspendedMs = apartMs
  }

  return () => {
    const at = monotonic()
    const wallMovedMs = wall() - at - wallOffsetMs
    // The system's clock was set, or the machine was suspended, or a program gives this one a monotonic clock that can be set.
    if (Math.abs(wallMovedMs) > MOVED_MS || Math.abs(at - last) > MOVED_MS) {
      wallOffsetMs += wallMovedMs
      compareUptime(at)
    }
    last = at
    return at + suspendedMs
  }
}
