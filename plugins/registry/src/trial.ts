/** Makes a first read through a connection: a package shows whether the credentials work. */
import { type Auth, DestinationError, isRefused, type ProbeResult, type Trial } from '@claimcheck/core/plugin'

export function packageTrial(example: string): Trial {
  return { title: 'Package', description: 'One that is to be read through this connection, by its name.', example }
}

type Found = Pick<ProbeResult, 'proves' | 'warnings'>

/**
 * Tries a package.
 * @param auth the connection's credentials; undefined where it has none
 * @param isKnown true if the registry has said whose the credentials are
 * @param read throws `forbidden` for a package that the registry does not show
 */
export async function tryPackage(
  name: string | undefined,
  { auth, isKnown = false }: { readonly auth: Auth | undefined; readonly isKnown?: boolean },
  read: (name: string, auth: Auth | undefined) => Promise<unknown>,
): Promise<Found> {
  if (name === undefined) return { proves: 'reached', warnings: [] }
  if (!/^(?:@[\w.~-]+\/)?[\w.~-]*[\w~-]$/.test(name)) throw new DestinationError('unsupported_target')
  await read(name, auth)
  if (auth === undefined || isKnown || (await isRefused(() => read(name, undefined)))) {
    return { proves: 'works', warnings: [] }
  }
  return { proves: 'reached', warnings: [OPEN] }
}

const OPEN =
  'Anybody can read the package that was tried, so that it shows nothing of these credentials: try a private one.'
