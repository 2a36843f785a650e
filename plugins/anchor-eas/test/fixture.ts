/** Shared by the plugin's tests: an anchorer on a local chain, subjects, and the contracts with their published ABI. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Anchor, PluginParts } from '@claimcheck/core/hosting'
import type { Anchorer, AnchorerErrorCode, AnchorSubject, Logger, SignedAnchor } from '@claimcheck/core/plugin'
import anchorEas from '@claimcheck/plugin-anchor-eas'
import { Interface } from 'ethers'
import type { Test } from 'tap'
import { type Chain, type ChainOptions, startChain } from '../../../test/chain/chain.ts'
import { RpcProxy } from '../../../test/chain/proxy.ts'

export interface Fixture {
  readonly chain: Chain
  readonly proxy: RpcProxy
  readonly anchorer: Anchorer
}

export type PluginOptions = Parameters<typeof anchorEas.setup>[1]

export const GWEI = 10n ** 9n
/** Contract code that always reverts: PUSH0 PUSH0 REVERT. */
export const REVERTS = '0x5f5ffd'
/** Never aborted. */
export const signal: AbortSignal = new AbortController().signal

const require = createRequire(import.meta.url)
const artifacts = '@ethereum-attestation-service/eas-contracts/artifacts/contracts'
export const EAS = contract('EAS')
export const REGISTRY = contract('SchemaRegistry')

function contract(name: string): Interface {
  const { abi } = JSON.parse(readFileSync(require.resolve(`${artifacts}/${name}.sol/${name}.json`), 'utf8'))
  return new Interface(abi)
}

/** An anchorer on a new chain, before `prepare`. */
export async function setUp(
  t: Test,
  { chain: chainOptions, ...options }: Partial<Omit<PluginOptions, 'chain'>> & { readonly chain?: ChainOptions } = {},
): Promise<Fixture> {
  const chain = await startChain(chainOptions)
  t.teardown(chain.stop)
  const proxy = await RpcProxy.start(chain.rpcUrl)
  t.teardown(() => proxy.stop())
  return { chain, proxy, anchorer: await createAnchorer(t, chain, { rpc_url: proxy.url, ...options }) }
}

/** An anchorer after `prepare`. From then on the chain makes a block only when the test asks for it. */
export async function setUpPrepared(t: Test, options: Parameters<typeof setUp>[1] = {}): Promise<Fixture> {
  const fixture = await setUp(t, options)
  await fixture.anchorer.prepare(signal)
  await fixture.chain.setMining('none')
  return fixture
}

/** Another anchorer on the same chain, with the same account unless another key is given. */
export async function createAnchorer(
  t: Test,
  chain: Chain,
  options: Partial<PluginOptions> = {},
  key: string = chain.account.key,
): Promise<Anchorer> {
  const { anchorer } = await setUpPlugin({
    rpc_url: chain.rpcUrl,
    chain: { id: chain.chainId, eas: chain.eas, schema_registry: chain.schemaRegistry },
    key_file: keyFile(t, key),
    ...options,
  })
  return anchorer!
}

export async function setUpPlugin(options: PluginOptions, warn: Logger['warn'] = () => {}): Promise<PluginParts> {
  const logger = { info: () => {}, warn }
  return anchorEas.setup({ logger }, options)
}

export function keyFile(t: Test, content: string, mode = 0o600): string {
  const folder = mkdtempSync(join(tmpdir(), 'anchor-key-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'key')
  writeFileSync(path, content, { mode })
  return path
}

const LOG_ID = randomBytes(32).toString('base64url')

export function subjectOf(treeSize: number, previous: AnchorSubject['previous'] = null): AnchorSubject {
  return { logId: LOG_ID, treeSize, rootHash: randomBytes(32), previous }
}

export function after({ uid, treeSize, rootHash }: Anchor): AnchorSubject['previous'] {
  return { uid, treeSize, rootHash: Buffer.from(rootHash, 'base64url') }
}

/** Signs and sends. */
export async function submit(
  { anchorer }: Pick<Fixture, 'anchorer'>,
  subject: AnchorSubject,
  earlier: readonly SignedAnchor[] = [],
): Promise<SignedAnchor> {
  const signed = await anchorer.sign(subject, earlier, signal)
  await anchorer.send(signed, signal)
  return signed
}

/** An anchorer that has sent a subject, which `look` asks about. */
export async function setUpSubmitted(t: Test, options: Parameters<typeof setUp>[1] = {}) {
  const fixture = await setUpPrepared(t, options)
  const subject = subjectOf(1)
  const signed = await submit(fixture, subject)
  return { ...fixture, subject, signed, look: () => fixture.anchorer.look(subject, [signed], signal) }
}

export async function finalAnchor(
  { anchorer }: Pick<Fixture, 'anchorer'>,
  subject: AnchorSubject,
  signed: readonly SignedAnchor[],
) {
  const sighting = await anchorer.look(subject, signed, signal)
  if (sighting.state !== 'final') throw new Error(`the anchor is ${sighting.state}`)
  return sighting
}

export async function attestationOf({ chain }: Pick<Fixture, 'chain'>, uid: string) {
  const data = EAS.encodeFunctionData('getAttestation', [uid])
  return EAS.decodeFunctionResult('getAttestation', await chain.rpc('eth_call', { to: chain.eas, data }, 'latest'))[0]
}

/** How many anchors the account has on the chain. */
export async function countAnchors({ chain, anchorer }: Pick<Fixture, 'chain' | 'anchorer'>): Promise<number> {
  const { attester, schema } = anchorer.identity()
  const topics = EAS.encodeFilterTopics('Attested', [null, attester, null, schema])
  return (await chain.rpc('eth_getLogs', { address: chain.eas, topics, fromBlock: '0x0' })).length
}

export async function failsWith(t: Test, code: AnchorerErrorCode, promise: Promise<unknown>): Promise<void> {
  await t.rejects(promise, { name: 'AnchorerError', code })
}

export function wei(gwei: number): string {
  return String(BigInt(gwei) * GWEI)
}
