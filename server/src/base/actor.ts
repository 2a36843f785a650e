/** The actor of a change, and its address: the audit trail records both with each event. */
import { hostname, userInfo } from 'node:os'

/** The kinds of actors. `nobody` has not signed in; `service` is the service itself, such as a worker. */
export type Actor =
  | { readonly kind: 'user' | 'key'; readonly id: string }
  /** An OAuth client, on behalf of the user who granted it access. */
  | { readonly kind: 'application'; readonly id: string }
  /** The command line. Its id names the operating system's user and the host. */
  | { readonly kind: 'command'; readonly id: string }
  | { readonly kind: 'service' | 'nobody'; readonly id: null }

/** The actor and address that every service method gets that changes something. */
export interface Acting {
  readonly actor: Actor
  /** The client's network address; null on the command line and in workers. */
  readonly address: string | null
}

export const BY_SERVICE: Acting = { actor: { kind: 'service', id: null }, address: null }

export function byUser(userId: string, address: string | null): Acting {
  return { actor: { kind: 'user', id: userId }, address }
}

export function byNobody(address: string): Acting {
  return { actor: { kind: 'nobody', id: null }, address }
}

export function byCommand(): Acting {
  return { actor: { kind: 'command', id: `${userName()}@${hostname()}` }, address: null }
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // A container may run as a number without a name.
    return `uid ${process.getuid?.() ?? 'unknown'}`
  }
}
