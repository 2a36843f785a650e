/** Collects garbage now, as a busy process does at any time: what nothing holds is gone. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

export function collectGarbage(): void {
  // What a first collection finds to be weakly held, a later one takes.
  for (let times = 0; times < 5; times++) collect()
}
