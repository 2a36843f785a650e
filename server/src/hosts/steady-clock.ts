/** A monotonic clock of this host, in milliseconds, that goes on while the machine is suspended. Only its rate matters, not what it shows. */
import { uptime } from 'node:os'

/** As the operating system has them, in milliseconds. */
export interface SystemClocks {
  /** May or may not count the time in which the machine is suspended. */
  monotonic(): number
  /** Counts it, on Linux, macOS and Windows. Not more exact than a second. */
  uptime(): number
  /** Anybody may set it. */
  wall(): number
}

const SYSTEM: SystemClocks = {
  monotonic: () => performance.timeOrigin + performance.now(),
  uptime: () => uptime() * 1000,
  wall: Date.now,
}

/** When the system's clock moves so far against the monotonic one, it was set, or the machine was suspended: the uptime tells which. */
const MOVED_MS = 1000

export function steadyClock({ monotonic, uptime, wall }: SystemClocks = SYSTEM): () => number {
  const awakeAtStart = uptime() - monotonic()
  let wallOffsetMs = wall() - monotonic()
  let suspendedMs = 0

  return () => {
    const at = monotonic()
    if (Math.abs(wall() - at - wallOffsetMs) > MOVED_MS) {
      wallOffsetMs = wall() - at
      const counted = uptime() - monotonic() - awakeAtStart
      if (counted - suspendedMs > MOVED_MS) suspendedMs = counted
    }
    return at + suspendedMs
  }
}
