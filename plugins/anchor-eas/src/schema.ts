/** Sees to it that the schema of our anchors is registered. */

import { setTimeout as delay } from 'node:timers/promises'
import { AnchorerError } from '@claimcheck/core'
import { getSchemaCall, readSchema, registerCall } from './eas.ts'
import { sendSigned, signCall, type TransactionOptions } from './transaction.ts'

const POLL_MS = 1000

/** @throws AnchorerError, also when the registration does not land in time: it is looked for, and tried again, at the next call */
export async function ensureSchema(
  registry: string,
  waitMs: number,
  options: TransactionOptions,
  signal: AbortSignal,
): Promise<void> {
  const isRegistered = async () => {
    const found = readSchema(await options.node.call({ to: registry, data: getSchemaCall() }))
    if (found === 'another') throw new AnchorerError('schema_differs', `${registry} has another schema under our uid`)
    return found === 'ours'
  }

  if (await isRegistered()) return
  await sendSigned(options.node, await signCall({ to: registry, data: registerCall() }, options))
  for (let waitedMs = 0; waitedMs < waitMs && !signal.aborted; waitedMs += POLL_MS) {
    if (await isRegistered()) return
    await delay(POLL_MS, undefined, { signal }).catch(() => {})
  }
  throw new AnchorerError('rpc_unavailable', "the schema's registration has not landed yet")
}
