/** Finds the addresses behind a name, and refuses names with an address that is not public. */
import { type LookupAddress, lookup } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { refusal } from '@claimcheck/core/hosting'
import { isPublicAddress } from './addresses.ts'

/** A function like node:dns `lookup`, which tests of DNS rebinding replace. */
export type Lookup = (
  hostname: string,
  options: { readonly all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** The system's own lookup, for names that the operator listed: it knows the hosts file and search domains. */
export const systemLookup = lookup as Lookup

const publicNames = newResolver()

function newResolver(): Resolver {
  return new Resolver({ timeout: 2000, tries: 2 })
}

/**
 * Asks the name servers directly. The system's lookup occupies one of four threads, which the database needs too, for as long as a
 * stranger's name server likes.
 */
export const queryNames: Lookup = (hostname, _options, done) => {
  Promise.allSettled([publicNames.resolve4(hostname), publicNames.resolve6(hostname)]).then(([four, six]) => {
    const ofFamily = (result: PromiseSettledResult<string[]>, family: 4 | 6) =>
      result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : []
    const found = [...ofFamily(four, 4), ...ofFamily(six, 6)]
    const error = four.status === 'rejected' ? (four.reason as NodeJS.ErrnoException) : null
    done(found.length > 0 ? null : error, found)
  })
}

/**
 * Looks up all addresses of a name.
 * @throws Error when one of them is not public: an attacker mixes public and private addresses to reach the private one
 */
export async function lookUp(resolver: Lookup, hostname: string, publicOnly: boolean): Promise<LookupAddress[]> {
  const addresses = await new Promise<LookupAddress[]>((resolve, reject) => {
    resolver(hostname, { all: true }, (error, found) => (error ? reject(error) : resolve(found)))
  })
  if (addresses.length === 0) throw new Error('the name has no address')
  if (publicOnly && !addresses.every(({ address }) => isPublicAddress(address))) {
    throw refusal('the name has an address that is not public')
  }
  return addresses
}

/** Makes a lookup for connections: they go to one of the addresses that were checked, and nothing resolves the name again, against DNS rebinding. */
export function toLookupFunction(resolver: Lookup, publicOnly: boolean): LookupFunction {
  return (hostname, options, done) => {
    lookUp(resolver, hostname, publicOnly).then(
      (addresses) => {
        const [first] = addresses
        if (options.all) done(null, addresses)
        else done(null, first!.address, first!.family)
      },
      (error) => done(error, '', 0),
    )
  }
}

/** Codes of DNS errors which say that there is no such record. All other errors are no answer. */
const ABSENT: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA'])

/**
 * Reads the texts of a name's TXT records; none where DNS says that there are none. Rejects without an answer.
 * @param servers `address:port`, in place of the system's name servers
 */
export async function queryTexts(name: string, servers?: readonly string[]): Promise<readonly string[]> {
  const resolver = servers ? newResolver() : publicNames
  if (servers) resolver.setServers(servers)
  const records = await resolver.resolveTxt(name).catch((error: NodeJS.ErrnoException) => {
    if (ABSENT.has(error.code)) return []
    throw error
  })
  return records.map((parts) => parts.join(''))
}
