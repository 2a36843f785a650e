/** The anchorer: each of its methods asks the chain for its id, and then does its work. */
import { type Anchorer, AnchorerError } from '@claimcheck/core/plugin'
import { signerOf } from './account.ts'
import { previousAttestation } from './attestations.ts'
import { attestCall, SCHEMA_UID } from './eas.ts'
import { finalBlock } from './final-block.ts'
import { look } from './look.ts'
import { type Node, openNode } from './node.ts'
import type { Settings } from './options.ts'
import { createRpc } from './rpc.ts'
import { createSchemaRegistration, requireRegistry } from './schema.ts'
import { sendSigned, signCall } from './transaction.ts'

const SCHEME = 'eas'

export function createEasAnchorer(settings: Settings): Anchorer {
  const { account, confirmations, intervalMs, stuckAfterMs, maxFeeWei } = settings
  const { id: chainId, eas, schemaRegistry } = settings.chain
  const rpc = createRpc(settings.rpcUrl, settings.timeoutMs)
  const open = (signal: AbortSignal) => openNode(rpc, chainId, signal)
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
      // Also the code that an account delegates to (EIP-7702): then others may make it attest, and use up its nonces.
      if (await node.hasCode(attester)) throw new AnchorerError('account_is_contract', `${attester} has code`)
      if ((await node.balance(attester)) === 0n) {
        throw new AnchorerError('insufficient_balance', `${attester} has nothing to pay with`)
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
      // What is under way may be of an account that is no longer the configured one.
      const by = signed[0] ? signerOf(signed[0].raw) : attester
      return look(subject, signed, { node, chain, scheme: SCHEME, eas, attester: by, confirmations })
    },
  }
}
