/** Another kind of anchor: statements in a file that everyone can read, each signed by the account that publishes it. */
import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import type { AnchorChecker, Anchorer, AnchorSubject, SignedAnchor } from '@claimcheck/core/plugin'
import { fromBase64url, toBase64url } from '@claimcheck/core/receipts'

const CHAIN = 'statements:1'
/** The published format fixes it: kinds differ in their chain. */
const SCHEME = 'eas'
const SCHEMA = 'statement of a root, 1'
/** PKCS#8 of Ed25519, before the 32 bytes of a key. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

interface Statement {
  readonly log_id: string
  readonly tree_size: number
  readonly root_hash: string
  readonly at: number
}

interface Line {
  readonly statement: Statement
  readonly by: string
  readonly signature: string
}

function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
}

function hashOf(line: string): string {
  return `0x${createHash('sha256').update(line).digest('hex')}`
}

/** @param seed 32 bytes */
export function createStatementAnchorer(file: string, seed: Buffer): Anchorer {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
  const attester = createPublicKey(key).export({ format: 'jwk' }).x!

  function isOf({ logId, treeSize, rootHash }: AnchorSubject, line: string): boolean {
    const { statement } = JSON.parse(line) as Line
    const root = toBase64url(rootHash)
    return statement.log_id === logId && statement.tree_size === treeSize && statement.root_hash === root
  }

  return {
    chain: CHAIN,
    scheme: SCHEME,
    intervalMs: 1,
    stuckAfterMs: 60_000,
    identity: () => ({ attester, schema: SCHEMA }),
    account: async () => ({ address: attester, balance: '0' }),
    async prepare() {},
    async sign({ logId, treeSize, rootHash }): Promise<SignedAnchor> {
      const at = Math.floor(Date.now() / 1000)
      const statement: Statement = { log_id: logId, tree_size: treeSize, root_hash: toBase64url(rootHash), at }
      const signature = sign(null, Buffer.from(JSON.stringify(statement)), key).toString('base64url')
      const raw = JSON.stringify({ statement, by: attester, signature } satisfies Line)
      return { txHash: hashOf(raw), nonce: linesOf(file).length, raw, maxFee: '0', priorityFee: '0' }
    },
    async send({ raw }) {
      if (!linesOf(file).includes(raw)) appendFileSync(file, `${raw}\n`)
    },
    async look(subject) {
      const lines = linesOf(file)
      const index = lines.findIndex((line) => isOf(subject, line))
      if (index < 0) return { state: 'waiting', isKnown: false }
      const hash = hashOf(lines[index]!)
      const { statement } = JSON.parse(lines[index]!) as Line
      const where = {
        chain: CHAIN,
        scheme: SCHEME,
        uid: hash,
        txHash: hash,
        blockNumber: index,
        blockTime: statement.at,
      }
      const anchor = { ...where, treeSize: subject.treeSize, rootHash: statement.root_hash }
      return { state: 'final', anchor, cost: '0', gasUsed: 0 }
    },
  }
}

/** @param file a copy of the file, from anyone who keeps one */
export function createStatementChecker(file: string): AnchorChecker {
  return {
    knows: ({ chain }) => chain === CHAIN,
    async read({ uid }, { anchorAddresses, anchorSchemas }) {
      const line = linesOf(file).find((one) => hashOf(one) === uid)
      if (line === undefined) return { problem: 'attestation_not_found' }
      const { statement, by, signature } = JSON.parse(line) as Line
      if (!anchorAddresses.includes(by)) return { problem: 'attester_not_published' }
      if (!anchorSchemas.includes(SCHEMA)) return { problem: 'schema_not_published' }
      const jwk = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: by }, format: 'jwk' })
      const isSigned = verify(null, Buffer.from(JSON.stringify(statement)), jwk, Buffer.from(signature, 'base64url'))
      const [logId, rootHash] = [fromBase64url(statement.log_id, 32), fromBase64url(statement.root_hash, 32)]
      if (!isSigned || !logId || !rootHash) return { problem: 'data_undecodable' }
      return { logId, treeSize: statement.tree_size, rootHash, provenBy: statement.at * 1000 }
    },
  }
}
