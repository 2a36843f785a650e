/** Tells which of several connections read the same place, so that a claim that fits them all is not ambiguous. */

import { type Connection, parseUrl } from '@claimcheck/core/plugin'
import { canonicalize } from '@claimcheck/core/receipts'
import type { Registry } from '../../plugins/registry.ts'

/**
 * Picks the connections if all show the same, oldest first and without equal ones: any that does not refuse a claim can decide it.
 * @param connections the connections, oldest first
 * @param addressOf the base address at which each reads
 * @returns undefined where two may show different things
 */
export async function ofOnePlace<C extends Omit<Connection, 'id'>>(
  connections: readonly C[],
  registry: Pick<Registry, 'connectionType'>,
  addressOf: (connection: C) => Promise<string>,
): Promise<readonly C[] | undefined> {
  const byOptions = new Map(connections.toReversed().map((one) => [optionsOf(one), one]))
  const different = connections.filter((one) => byOptions.get(optionsOf(one)) === one)
  if (different.length < 2) return different
  const [first] = different as [C]
  const isOne = different.every(
    (one) =>
      one.provider === first.provider &&
      switchesOf(one) === switchesOf(first) &&
      registry.connectionType(one.provider)?.refusesHidden === true,
  )
  if (!isOne) return undefined
  const addresses = new Set((await Promise.all(different.map(addressOf))).map(oneForm))
  return addresses.size === 1 ? different : undefined
}

function optionsOf({ provider, options }: Omit<Connection, 'id'>): string {
  return canonicalize({ provider, options })
}

/**
 * Returns the options with which an owner describes the place itself, such as that it forgets at once: by them the same answer may count differently.
 */
function switchesOf({ options }: Omit<Connection, 'id'>): string {
  return canonicalize(Object.fromEntries(Object.entries(options).filter(([, value]) => typeof value === 'boolean')))
}

function oneForm(address: string): string {
  return (parseUrl(address)?.href ?? address).replace(/\/+$/, '')
}
