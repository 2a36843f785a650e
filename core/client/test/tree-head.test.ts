/** The client sends the newest head of the log that it saw, where it sends its key. */
import { createClient } from '@claimcheck/client'
import { headField, signTreeHead, TREE_HEAD_FIELD } from '@claimcheck/core/log'
import { createNobleSigner } from '@claimcheck/core/receipts'
import t from 'tap'

const signer = createNobleSigner(new Uint8Array(32).fill(3))
const signed = async (treeSize: number) =>
  headField(await signTreeHead(signer, { logId: 'A'.repeat(43), treeSize, rootHash: new Uint8Array(32), issuedAt: 0 }))

t.test('the newest head goes along with the key, and nowhere else', async (t) => {
  const [three, four] = [await signed(3), await signed(4)]
  const sent: (string | null)[] = []
  const answers: (readonly [status: number, head: string | undefined])[] = []
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    sent.push(new Headers(init?.headers).get(TREE_HEAD_FIELD))
    const [status, head] = answers.shift() ?? [200, undefined]
    const headers = head === undefined ? {} : { [TREE_HEAD_FIELD]: head }
    return new Response('{"kind":"key","workspace_id":"ws_1"}', { status, headers })
  }
  const kept: string[] = []
  const treeHead = { recall: () => kept.at(-1), keep: (head: string) => void kept.push(head) }
  for (const memory of [{}, { treeHead }]) {
    const client = createClient({ baseUrl: 'https://a.example', key: 'svc_sk_x', retryForMs: 0, fetch, ...memory })
    answers.push([200, three], [200, 'nonsense'], [200, undefined], [503, four], [200, three])
    for (let i = 0; i < 6; i++) await client.whoami().catch(() => {})
    await client.keys()
    t.strictSame(sent.splice(0), [null, three, three, three, four, four, null])
  }
  t.strictSame(kept, [three, four], 'it is kept when it is new')
})
