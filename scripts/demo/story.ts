/**
 * The whole story: an agent claims five things, and each receipt says what was so. No step depends on how fast this machine is: what ends
 * by itself waits for what it needs, and what ends by a time has the time of `Service`.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ClaimStatus, type Client, createClient, type DecidedClaim } from '@claimcheck/client'
import { Agent } from '../../test/destinations/agent.ts'
import { startGitHub } from '../../test/destinations/forge/github.ts'
import type { StandIn } from '../../test/destinations/forge/stand-in.ts'
import { GitServer } from '../../test/destinations/git-server.ts'
import { type Anchoring, startAnchoring } from './anchoring.ts'
import { Service } from './service.ts'
import { command, heading, paint, say, showVerdict, waiting } from './terminal.ts'

const TARGET = 'acme/api'
/** The repository at the code host. */
const HOSTED = 'octo/web'
const TOLERANCE_MS = 10 * 60_000
/** More than the age that an answer of a code host may have: what a first look does not find was not there when the tolerance ended. */
const ANSWER_AGE_MS = 15_000

/** A deadline that no story waits for. */
const FAR_MS = 60 * 60_000
const NEAR_MS = 1000

/** @param deadlineMs from now. A claim with one was made so long ago that its tolerance has just ended, whatever the speed of this machine */
function claim(
  client: Client,
  sha: string,
  branch: string,
  { deadlineMs, target = TARGET }: { readonly deadlineMs?: number; readonly target?: string } = {},
): Promise<ClaimStatus> {
  const now = Date.now()
  return client.submit({
    action: 'codehost.commit.push',
    target,
    params: { sha, branch },
    claimed_at: new Date(deadlineMs === undefined ? now : now - TOLERANCE_MS - ANSWER_AGE_MS),
    ...(deadlineMs === undefined ? {} : { deadline_at: new Date(now + deadlineMs) }),
  })
}

/** Resolves when a check has read the destination and found nothing. @throws Error when the claim is decided without such a check */
async function readAsAbsent(client: Client, claimed: ClaimStatus): Promise<void> {
  for await (const { last_check, state, reason_code } of client.watch(claimed)) {
    if (last_check?.result === 'absent') return
    if (state === 'decided') throw new Error(`the claim was decided before the push: ${reason_code}`)
  }
}

function short(sha: string): string {
  return sha.slice(0, 10)
}

function outcome({ verdict, reason_code, attempts }: DecidedClaim): string {
  const reason = reason_code ? ` (${reason_code.replaceAll('_', ' ')})` : ''
  return `${showVerdict(verdict)}${reason} ${paint('dim', `after ${attempts} ${attempts === 1 ? 'check' : 'checks'}`)}`
}

/** @returns nothing where the verdict is the expected one */
export function unexpectedVerdict(
  number: number,
  expected: string,
  { verdict, reason_code, last_check }: Pick<DecidedClaim, 'verdict' | 'reason_code' | 'last_check'>,
): readonly string[] {
  if (verdict === expected) return []
  const why = `${reason_code ?? 'no reason'}, last check: ${JSON.stringify(last_check)}`
  return [`Claim ${number} should have ended ${expected}, and ended ${verdict}: ${why}.`]
}

/** Makes the same receipt with another verdict. */
export function tamperedCopy(receipt: string): string {
  const { body, ...rest } = JSON.parse(receipt)
  const value = body.verdict.value === 'verified' ? 'failed' : 'verified'
  return JSON.stringify({ body: { ...body, verdict: { value } }, ...rest })
}

/** @returns what went otherwise than it should, in sentences */
async function play(
  gitServer: GitServer,
  codeHost: StandIn,
  agent: Agent,
  service: Service,
  anchoring: Anchoring | undefined,
): Promise<readonly string[]> {
  heading('An operator sets up Claimcheck, and an agent works with a git server')
  await service.start()
  say(`  git server  ${gitServer.url}`)
  say(`  code host   ${codeHost.url}, a stand-in for GitHub`)
  say(`  Claimcheck  ${service.url}`)
  await service.show('workspace', 'create', 'acme')
  const { key } = await service.show<{ key: string }>('key', 'create', '--workspace', 'acme')
  const connect = (kind: string, ...options: string[]) =>
    service.show('connection', 'add', kind, '--workspace', 'acme', '--set', ...options)
  await connect('git', `base_url=${gitServer.url}`, 'owners=acme')
  await connect('github', `base_url=${codeHost.url}`, 'owners=octo')
  const client = createClient({ baseUrl: service.url, key, agentId: 'demo-agent' })
  const repository = `${gitServer.url}/${TARGET}.git`

  const problems: string[] = []
  const decided: DecidedClaim[] = []
  const settle = async (expected: string, text: string, { claim_id }: ClaimStatus) => {
    const ended = await waiting(text, client.wait(claim_id), outcome)
    decided.push(ended)
    problems.push(...unexpectedVerdict(decided.length, expected, ended))
  }

  heading('1. The agent pushes a commit to main, and says so')
  const first = await agent.commit({ message: 'Add the endpoint' })
  await agent.push(repository, first, 'main')
  await settle('verified', `looking for ${short(first)} on main`, await claim(client, first, 'main'))

  heading('2. It claims a push, and makes it only after the tolerance is over')
  const second = await agent.commit({ message: 'Mend the endpoint', parents: [first] })
  const late = await claim(client, second, 'main', { deadlineMs: FAR_MS })
  await readAsAbsent(client, late)
  await agent.push(repository, second, 'main')
  await settle('late', `looking for ${short(second)} on main, which comes late`, late)

  heading('3. At the code host it pushes to another branch, and claims main. The host logs pushes, and none to main')
  const third = await pushElsewhere(codeHost)
  const misplaced = await claim(client, third, 'main', { deadlineMs: NEAR_MS, target: HOSTED })
  await settle('mismatch', `looking for ${short(third)} on main until the deadline`, misplaced)

  heading('4. It claims a commit that it never pushed')
  const fourth = await agent.commit({ message: 'Never pushed', parents: [second] })
  const missing = await claim(client, fourth, 'main', { deadlineMs: NEAR_MS })
  await settle('failed', `looking for ${short(fourth)} on main until the deadline`, missing)

  heading('5. The git server is down when it claims. That says nothing about the agent')
  await gitServer.stopListening()
  const unreadable = await claim(client, first, 'main', { deadlineMs: NEAR_MS })
  await settle('unverifiable', 'asking a server that does not answer', unreadable)

  if (anchoring) {
    heading("The log's root is put on a chain, where it stays")
    say(`  chain       ${anchoring.rpcUrl}`)
    say(`  ${describeAnchor(await anchored(service, client, decided.at(-1)!))}`)
  }

  heading('Anyone can fetch the receipts, and check them without us: the service is stopped now')
  const receipts = await Promise.all(decided.map(({ receipt_id }) => client.receipt(receipt_id)))
  await writeFile(join(service.folder, 'keys.json'), await client.keys())
  await service.stop()

  const rpc = anchoring ? ['--rpc', anchoring.rpcUrl] : []
  const check = async (name: string, receipt: string, expected: Expected) => {
    problems.push(...(await checkReceipt(service, { name, receipt, rpc, expected })))
  }
  const trustLevel = anchoring ? 2 : 1
  for (const [index, receipt] of receipts.entries()) {
    await check(`receipt-${index + 1}.json`, receipt, { code: 0, trustLevel })
  }
  heading('And one with a changed verdict')
  await check('tampered.json', tamperedCopy(receipts[3]!), { code: 1, trustLevel: 0 })
  return problems
}

async function pushElsewhere(codeHost: StandIn): Promise<string> {
  const repository = await codeHost.createRepository(HOSTED, { createdAt: Date.now() - 2 * FAR_MS })
  const base = await repository.commit({ message: 'Begin' })
  await repository.push('main', base)
  const sha = await repository.commit({ message: 'Try something', parents: [base] })
  await repository.push('experiment', sha)
  return sha
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

interface Expected {
  readonly code: number
  /** Level 1 is signed and in the log, level 2 anchored, too. 0: not valid. */
  readonly trustLevel: number
}

interface ReceiptCheck {
  readonly name: string
  readonly receipt: string
  readonly rpc: readonly string[]
  readonly expected: Expected
}

/** @returns how the check ended otherwise than it should */
async function checkReceipt(
  service: Service,
  { name, receipt, rpc, expected }: ReceiptCheck,
): Promise<readonly string[]> {
  await writeFile(join(service.folder, name), receipt)
  const args = ['verify', name, '--keys', 'keys.json', ...rpc]
  command(`./claimcheck ${args.join(' ')}`)
  const { code, stdout } = await service.run(...args)
  const [result = '', ...checks] = stdout.trim().split('\n')
  say(`  ${paint(code === 0 ? 'green' : 'red', result)}`)
  for (const line of checks.filter((line) => line.includes('NOT'))) say(`  ${paint('red', line.trim())}`)
  if (code !== expected.code)
    return [`The check of ${name} should have ended with ${expected.code}: ${code}\n${stdout}`]
  if (rpc.length === 0) return []
  const report = await service.run(...args, '--json')
  const { achieved_trust_level: trustLevel } = JSON.parse(report.stdout)
  if (trustLevel !== expected.trustLevel)
    return [`${name} should have trust level ${expected.trustLevel}: ${trustLevel}`]
  if (trustLevel > 0) say(`  ${paint('green', `Trust level ${trustLevel}: anchored`)}`)
  return []
}

/** @returns whether it ended as it should */
export async function tellStory({ isAnchored }: { readonly isAnchored: boolean }): Promise<boolean> {
  const startedAt = Date.now()
  const gitServer = await GitServer.start()
  await gitServer.createRepository(TARGET)
  const codeHost = await startGitHub()
  const agent = await Agent.create()
  const anchoring = isAnchored ? await startAnchoring() : undefined
  const service = await Service.create(
    [gitServer, codeHost].map(({ url }) => new URL(url).host),
    anchoring ? [anchoring.plugin] : [],
  )
  try {
    const problems = await play(gitServer, codeHost, agent, service, anchoring)
    const seconds = Math.round((Date.now() - startedAt) / 1000)
    if (problems.length === 0) say(`\nFive claims, five verdicts, in ${seconds} s.`)
    else say(['\nThe story did not end as it should:', ...problems].join('\n  '))
    return problems.length === 0
  } finally {
    await service.remove()
    await anchoring?.stop()
    await agent.close()
    await codeHost.close()
    await gitServer.close()
  }
}
