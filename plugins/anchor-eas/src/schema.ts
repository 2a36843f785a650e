/** Checks that the service uses the configured schema registry, and registers the schema of our anchors there if it is missing. */
import { setTimeout as delay } from 'node:timers/promises'
import { AnchorerError, type SignedAnchor } from '@claimcheck/core/plugin'
import { getSchemaCall, getSchemaRegistryCall, readSchema, readSchemaRegistry, registerCall } from './eas.ts'
import type { Node } from './node.ts'
import { sendSigned, signCall, type TransactionOptions } from './transaction.ts'

const POLL_MS = 1000

/** Checks the service's schema registry. @throws AnchorerError `not_eas` when the contract is not the service or uses another registry */
export async function requireRegistry(node: Node, eas: string, registry: string): Promise<void> {
  const answer = await node.call({ to: eas, data: getSchemaRegistryCall() }).catch((error: unknown) => {
    if (!(error instanceof AnchorerError) || error.code !== 'reverted') throw error
    throw new AnchorerError('not_eas', `${eas} is not the attestation service`, { cause: error })
  })
  const found = readSchemaRegistry(answer)
  if (found !== registry.toLowerCase()) throw new AnchorerError('not_eas', `${eas} uses the schema registry ${found}`)
}

export function createSchemaRegistration(registry: string, waitMs: number) {
  /** The registration's transaction that was sent last. */
  let last: SignedAnchor | undefined

  /** Sends a registration. It replaces the last one, with its nonce and higher fees, as long as that nonce is unused. */
  async function send(options: TransactionOptions): Promise<void> {
    const next = await options.node.nonce(options.account.address, 'latest')
    const replaced = last?.nonce === next ? last : undefined
    last = await signCall({ to: registry, data: registerCall() }, { ...options, replaced })
    await sendSigned(options.node, last)
  }

  /**
   * Registers the schema.
   * @throws AnchorerError `schema_pending` when no block has the registration in time. The next call looks for it, and sends it again if necessary.
   */
  return async function registerSchema(options: TransactionOptions, signal: AbortSignal): Promise<void> {
    const isRegistered = async () => {
      const found = readSchema(await options.node.call({ to: registry, data: getSchemaCall() }))
      if (found === 'another') throw new AnchorerError('schema_differs', `${registry} has another schema under our uid`)
      return found === 'ours'
    }

    if (await isRegistered()) return
    await send(options)
    for (let waitedMs = 0; waitedMs < waitMs && !signal.aborted; waitedMs += POLL_MS) {
      if (await isRegistered()) return
      await delay(POLL_MS, undefined, { signal }).catch(() => {})
    }
    throw new AnchorerError('schema_pending', "the schema's registration is not in a block yet")
  }
}
