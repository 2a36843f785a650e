/** How Node.js frees the memory of young objects, which is most of what it frees. */
import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'

/**
 * With two processors the main thread frees them by itself: other threads would share the work, and waking them takes longer than that. V8
 * reads this flag at each collection (Node.js 20, 22 and 24). For a process that serves, at its start.
 */
export function freeYoungObjectsAlone(): void {
  if (availableParallelism() <= 2) setFlagsFromString('--no-parallel-scavenge')
}
