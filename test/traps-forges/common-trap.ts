/** A trap that is told once, for every code host. */
import type { Trap } from '../traps/trap.ts'
import type { ForgeWorld, HostKind } from './world.ts'

/** A trap whose outcome may hang on what the host tells. */
export interface CommonTrap extends Omit<Trap<ForgeWorld>, 'verdict' | 'forgets'> {
  readonly verdict: string | ((kind: HostKind) => string)
  readonly forgets?: boolean | ((kind: HostKind) => boolean)
  /** Hosts at which it can be set; all, when left out. */
  readonly at?: (kind: HostKind) => boolean
}
