/** The whole story: an agent claims five things, and each receipt says what was so. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ClaimStatus, type Client, createClient, type DecidedClaim } from '@claimcheck/client'
import { Agent } from '../../test/destinations/agent.ts'
import { GitServer } from '../../test/destinations/git-server.ts'
import { type Anchoring, startAnchoring } from './anchoring.ts'
import { Service } from './service.ts'
import { command, heading, paint, say, showVerdict, waiting } from './terminal.ts'

const TARGET = 'acme/api'
const TOLERANCE_MS = 10 * 60_000

interface ClaimTimes {
  /** From now until the end of the tolerance. */
  readonly toleranceEndsInMs: number
  /** From then until the deadline. */
  readonly deadlineMs: number
}

/** Claimed a while ago where the story needs an end of the tolerance within seconds: it is ten minutes after the claim. */
function claim(client: Client, sha: string, branch: string, times?: ClaimTimes): Promise<ClaimStatus> {
  const claimedAt = times ? Date.now() + times.toleranceEndsInMs - TOLERANCE_MS : Date.now()
  return client.submit({
    action: 'codehost.commit.push',
    target: TARGET,
    params: { sha, branch },
    claimed_at: new Date(claimedAt),
    ...(times ? { deadline_at: new Date(claimedAt + TOLERANCE_MS + times.deadlineMs) } : {}),
  })
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms))
}

function short(sha: string): string {
  return sha.slice(0, 10)
}

function outcome({ verdict, reason_code, attempts }: DecidedClaim): string {
  const reason = reason_code ? ` (${reason_code.replaceAll('_', ' ')})` : ''
  return `${showVerdict(verdict)}${reason} ${paint('dim', `after ${attempts} ${attempts === 1 ? 'check' : 'checks'}`)}`
}

async function tell(
  gitServer: GitServer,
  agent: Agent,
  service: Service,
  anchoring: Anchoring | undefined,
): Promise<boolean> {
  heading('An operator sets up Claimcheck, beside a git server that an agent works with')
  await service.start()
  say(`  git server  ${gitServer.url}`)
  say(`  Claimcheck  ${service.url}`)
  await service.show('workspace', 'create', 'acme')
  const { key } = await service.show<{ key: string }>('key', 'create', '--workspace', 'acme')
  await service.show('connection', 'add', 'git', '--workspace', 'acme', '--set', `base_url=${gitServer.url}`)
  const client = createClient({ baseUrl: service.url, key, agentId: 'demo-agent' })
  const repository = `${gitServer.url}/${TARGET}.git`

  const decided: DecidedClaim[] = []
  const settle = async (text: string, { claim_id }: ClaimStatus) => {
    decided.push(await waiting(text, client.wait(claim_id), outcome))
  }

  heading('1. The agent pushes a commit to main, and says so')
  const first = await agent.commit({ message: 'Add the endpoint' })
  await agent.push(repository, first, 'main')
  await settle(`looking for ${short(first)} on main`, await claim(client, first, 'main'))

  heading('2. It claims a push, and makes it only after the tolerance is over')
  const second = await agent.commit({ message: 'Mend the endpoint', parents: [first] })
  const late = await claim(client, second, 'main', { toleranceEndsInMs: 1500, deadlineMs: 6500 })
  const pushedLate = pause(4500).then(() => agent.push(repository, second, 'main'))
  await settle(`looking for ${short(second)} on main, which comes late`, late)
  await pushedLate

  heading('3. It pushes to a branch of its own, and claims main')
  const third = await agent.commit({ message: 'Try something', parents: [second] })
  await agent.push(repository, third, 'experiment')
  const misplaced = await claim(client, third, 'main', { toleranceEndsInMs: 500, deadlineMs: 1500 })
  await settle(`looking for ${short(third)} on main until the deadline`, misplaced)

  heading('4. It claims a commit that it never pushed')
  const fourth = await agent.commit({ message: 'Never pushed', parents: [second] })
  const missing = await claim(client, fourth, 'main', { toleranceEndsInMs: 500, deadlineMs: 1500 })
  await settle(`looking for ${short(fourth)} on main until the deadline`, missing)

  heading('5. The git server is down when it claims. That says nothing about the agent')
  await gitServer.stopListening()
  const unreadable = await claim(client, first, 'main', { toleranceEndsInMs: 500, deadlineMs: 1500 })
  await settle('looking, and finding nobody to ask', unreadable)

  if (anchoring) {
    heading("The log's root is put on a chain, where nobody can take it back")
    say(`  chain       ${anchoring.rpcUrl}`)
    say(`  ${describeAnchor(await anchored(service, client, decided.at(-1)!))}`)
  }

  heading('Anybody can fetch the receipts, and check them without us: the service is stopped now')
  const receipts = await Promise.all(decided.map(({ receipt_id }) => client.receipt(receipt_id)))
  const keys = await client.keys()
  await service.stop()
  await writeFile(join(service.folder, 'keys.json'), keys)

  const rpc = anchoring ? ['--rpc', anchoring.rpcUrl] : []
  let isAsExpected = true
  for (const [index, receipt] of receipts.entries()) {
    isAsExpected = (await check(service, `receipt-${index + 1}.json`, receipt, { expected: 0, rpc })) && isAsExpected
  }
  heading('And one in which somebody made a failure a success')
  const tampered = receipts[3]!
    .replace('"value":"failed"', '"value":"verified"')
    .replace('"reason_code":"not_found",', '')
  isAsExpected = (await check(service, 'tampered.json', tampered, { expected: 1, rpc })) && isAsExpected

  const expected = ['verified', 'late', 'mismatch', 'failed', 'unverifiable']
  return isAsExpected && decided.every(({ verdict }, index) => verdict === expected[index])
}

interface AnchoredReceipt {
  readonly proof: { readonly tree_size: number; readonly anchor?: { readonly chain: string; readonly uid: string } }
}

/** The receipt of a claim, anchored: what is under way is waited for, and if that is of a smaller log, another one is made. */
async function anchored(service: Service, client: Client, { receipt_id }: DecidedClaim): Promise<AnchoredReceipt> {
  for (;;) {
    const receipt: AnchoredReceipt = JSON.parse(await client.receipt(receipt_id))
    if (receipt.proof.anchor) return receipt
    await service.show('anchor', 'now')
  }
}

function describeAnchor({ proof: { anchor, tree_size } }: AnchoredReceipt): string {
  return `${paint('green', '✔ anchored')} ${tree_size} entries on ${anchor!.chain}, as ${short(anchor!.uid)}`
}

/** Whether the check ended as it had to. */
async function check(
  service: Service,
  name: string,
  receipt: string,
  { expected, rpc }: { readonly expected: number; readonly rpc: readonly string[] },
): Promise<boolean> {
  await writeFile(join(service.folder, name), receipt)
  const args = ['verify', name, '--keys', 'keys.json', ...rpc]
  command(`npx claimcheck ${args.join(' ')}`)
  const { code, stdout } = await service.run(...args)
  const [result = '', ...checks] = stdout.trim().split('\n')
  say(`  ${paint(code === 0 ? 'green' : 'red', result)}`)
  for (const line of checks.filter((line) => line.includes('NOT'))) say(`  ${paint('red', line.trim())}`)
  // Level 2 is in the log, and that anchored.
  const isAnchored = rpc.length === 0 || expected !== 0 || result.endsWith('trust level 2')
  return code === expected && isAnchored
}

/** @returns whether it ended as it should */
export async function tellStory({ isAnchored }: { readonly isAnchored: boolean }): Promise<boolean> {
  const startedAt = Date.now()
  const gitServer = await GitServer.start()
  await gitServer.createRepository(TARGET)
  const agent = await Agent.create()
  const anchoring = isAnchored ? await startAnchoring() : undefined
  const service = await Service.create([new URL(gitServer.url).host], anchoring ? [anchoring.plugin] : [])
  try {
    const isAsExpected = await tell(gitServer, agent, service, anchoring)
    const seconds = Math.round((Date.now() - startedAt) / 1000)
    say(isAsExpected ? `\nFive claims, five verdicts, in ${seconds} s.` : '\nThe story did not end as it should.')
    return isAsExpected
  } finally {
    await service.remove()
    await anchoring?.stop()
    await agent.close()
    await gitServer.close()
  }
}
