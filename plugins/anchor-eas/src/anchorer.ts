/** The anchorer for the Ethereum Attestation Service. Each of its methods opens the node, which checks the chain's id, and then does its work. */
import { type Anchorer, AnchorerError } from '@claimcheck/core/plugin'
import { signerOf } from './account.ts'
import { previousAttestation } from './attestations.ts'
import { findAttested } from './attested.ts'
import { attestCall, SCHEMA_UID } from './eas.ts'
import { finalBlock } from './final-block.ts'
import { look } from './look.ts'
import { type Node, openNode } from './node.ts'
import { createAsk } from './rpc.ts'
import { createSchemaRegistration, requireRegistry } from './schema.ts'
import type { Settings } from './settings.ts'
import { sendSigned, signCall } from './transaction.ts'

const SCHEME = 'eas'

export function createEasAnchorer(settings: Settings): Anchorer {
  const { account, confirmations, intervalMs, stuckAfterMs, maxFeeWei } = settings
  const { id: chainId, eas, schemaRegistry } = settings.chain
  const ask = createAsk(settings.rpcUrl, settings.timeoutMs)
  const open = (signal: AbortSignal) => openNode(ask, chainId, signal)
  const chain = `eip155:${chainId}`
  const attester = account.address
  const registerSchema = createSchemaRegistration(schemaRegistry, stuckAfterMs)

  async function requireContract(node: Node, address: string): Promise<void> {
    if (!(await node.hasCode(address))) throw new AnchorerError('no_code', `there is no contract at ${address}`)
  }

  return {
    chain,
    scheme: SCHEME,
    intervalMs,
    stuckAfterMs,
    identity: () => ({ attester, schema: SCHEMA_UID }),

    async account(signal) {
      const node = await open(signal)
      return { address: attester, balance: String(await node.balance(attester)) }
    },

    async prepare(signal) {
      const node = await open(signal)
      await requireContract(node, eas)
      await requireContract(node, schemaRegistry)
      await requireRegistry(node, eas, schemaRegistry)
      // Code at the account's address includes code that the account delegates to (EIP-7702): others could then make it attest, and use its nonces.
      if (await node.hasCode(attester))
        throw new AnchorerError('account_is_contract', `the account ${attester} is a contract or delegates to one`)
      if ((await node.balance(attester)) === 0n) {
        throw new AnchorerError(
          'insufficient_balance',
          `the account ${attester} has no balance: send it some of the chain's coin`,
        )
      }
      await finalBlock(node, confirmations)
      await registerSchema({ node, chainId, account, maxFeeWei }, signal)
    },

    async sign(subject, earlier, signal) {
      const node = await open(signal)
      await previousAttestation(subject, { node, eas })
      const call = { to: eas, data: attestCall(subject) }
      return signCall(call, { node, chainId, account, maxFeeWei, replaced: earlier.at(-1) })
    },

    async send(signed, signal) {
      await sendSigned(await open(signal), signed)
    },

    async look(subject, signed, signal) {
      const node = await open(signal)
      // The transactions may be signed by an account that was configured earlier.
      const signer = signed[0] ? signerOf(signed[0].raw) : attester
      return look(subject, signed, { node, chain, scheme: SCHEME, eas, attester: signer, confirmations })
    },

    async attested(logId, range, signal) {
      return findAttested(logId, range, { node: await open(signal), chainId, eas, attester })
    },
  }
}
