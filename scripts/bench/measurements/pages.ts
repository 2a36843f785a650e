/** Measures the bytes of a page at its first visit, and how long the server takes for it. */
import { Installation } from '../../../test/support/installation.ts'
import { Visitor } from '../../../test/support/visitor.ts'
import type { Figure } from '../figure.ts'
import { mediansOf } from '../statistics.ts'

const CLAIMS = 1000
const AT_ONCE = 50
const ROUNDS = 40
const WARM_UP_ROUNDS = 10
const MOST_KB = 60
const MOST_DOCS_KB = 100
const MOST_MS = 10
/** Separate: it is loaded when the page is there. */
const CHECKER = 'receipt.js'
/** The smallest answer of the same server. */
const BASELINE = '/healthz'

interface Measured {
  readonly path: string
  readonly name: string
  readonly mostKb: number
}

export async function measurePages(): Promise<Figure[]> {
  const installation = await Installation.start()
  try {
    const visitor = await Visitor.first(installation.host)
    const workspaceId = await visitor.workspaceId()
    const { pages, receiptId } = await filled(installation, workspaceId)
    const figures: Figure[] = []
    for (const page of pages) figures.push(...(await measure(page, visitor)))
    const checker = await sizeOf(visitor, scriptsIn(await htmlOf(visitor, `/r/${receiptId}`)).find(isChecker)!)
    return [...figures, { name: 'the checker that a receipt loads', value: checker / 1000, unit: 'kB' }]
  } finally {
    await installation.remove()
  }
}

async function filled(installation: Installation, workspaceId: string) {
  const { claimcheck, host } = installation
  const { key } = await claimcheck.keys.create(workspaceId, 'bench')
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const submit = async (count: number) => {
    const claim = {
      client_claim_id: `run-${count}`,
      agent_id: `agent-${count % 7}`,
      action: 'test.outcome.reach',
      target: `place ${count}`,
      params: { see: 'present' },
      claimed_at: new Date(claimcheck.now()).toISOString(),
    }
    const { body } = await host.request('/v1/claims', { method: 'POST', headers, body: JSON.stringify(claim) })
    return body as { readonly claim_id: string; readonly receipt_id: string }
  }
  let last = await submit(0)
  for (let count = 1; count < CLAIMS; count += AT_ONCE) {
    const batch = Array.from({ length: AT_ONCE }, (_, index) => submit(count + index))
    last = (await Promise.all(batch)).at(-1)!
  }
  const inWorkspace = (rest: string) => `/console/w/${workspaceId}/${rest}`
  const console = ['claims', `claims/${last.claim_id}`, 'claims/new', 'agents', 'agents/agent-1', 'connections']
  const rest = ['developers', 'members', 'plugins']
  const page = (name: string, path: string, mostKb = MOST_KB): Measured => ({ name, path, mostKb })
  return {
    receiptId: last.receipt_id,
    pages: [
      ...[...console, ...rest].map((name) => page(name.replace(last.claim_id, 'one'), inWorkspace(name))),
      page('/r/one', `/r/${last.receipt_id}`),
      page('/log', '/log'),
      page('/docs', '/docs', MOST_DOCS_KB),
      page('/docs/quickstart', '/docs/quickstart', MOST_DOCS_KB),
      page('/docs/api/claims', '/docs/api/claims', MOST_DOCS_KB),
    ],
  }
}

async function measure({ name, path, mostKb }: Measured, visitor: Visitor): Promise<Figure[]> {
  const html = await htmlOf(visitor, path)
  const loaded = [...stylesIn(html), ...scriptsIn(html).filter((script) => !isChecker(script))]
  const sizes = await Promise.all(loaded.map((file) => sizeOf(visitor, file)))
  const bytes = sizes.reduce((sum, size) => sum + size, Buffer.byteLength(html))
  const works = { page: () => htmlOf(visitor, path), smallest: () => htmlOf(visitor, BASELINE) }
  const times = await mediansOf(works, { rounds: ROUNDS, warmUp: WARM_UP_ROUNDS })
  return [
    { name: `page ${name}: weight`, value: bytes / 1000, unit: 'kB', bar: { atMost: mostKb } },
    { name: `page ${name}: time`, value: times.page, unit: 'ms', bar: { atMost: MOST_MS } },
    { name: `page ${name}: time against the smallest answer`, value: times.page / times.smallest, unit: 'x' },
  ]
}

async function htmlOf(visitor: Visitor, path: string): Promise<string> {
  const response = await visitor.once(path)
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${path} answers with ${response.status}`)
  return text
}

async function sizeOf(visitor: Visitor, path: string): Promise<number> {
  return Buffer.byteLength(await htmlOf(visitor, path))
}

function stylesIn(html: string): string[] {
  return [...html.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)].map(([, href]) => href!)
}

function scriptsIn(html: string): string[] {
  return [...html.matchAll(/<script type="module" src="([^"]+)"/g)].map(([, src]) => src!)
}

function isChecker(path: string): boolean {
  return path.endsWith(`/${CHECKER}`)
}
