/** The step of the GitHub Action: claims, writes the outputs and the summary, and fails by verdict. It needs Node alone. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const { env } = process
const PUSH = 'codehost.commit.push'
const NAME_IT = 'To claim a push that the workflow itself made, name its commit and its branch with sha and branch.'
/** The time for which the service takes a push that it can only look at for one in time, less one minute. */
const RECENT_MS = 9 * 60_000
const OUTCOMES = ['verified', 'late', 'mismatch', 'failed', 'unverifiable', 'queued']

const failOn = (env.INPUT_FAIL_ON ?? '').split(/\s+/).filter(Boolean)
const unknown = failOn.find((one) => !OUTCOMES.includes(one))
if (unknown !== undefined) stop(`fail-on: ${unknown} is none of ${OUTCOMES.join(', ')}`)
if (!/^\d{1,5}$/.test(env.INPUT_WAIT ?? '')) stop('wait: write a number of seconds')

const action = env.INPUT_ACTION || PUSH
const [program, ...before] = command()
const { params, claimedAt } = action === PUSH ? pushed() : { params: [] }
const given = (env.INPUT_PARAMS ?? '')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map(literal)
const what = [
  ...['--action', action, '--target', env.INPUT_TARGET || env.GITHUB_REPOSITORY],
  ...[...params, ...given].flatMap((param) => ['--param', param]),
  ...['--agent', env.INPUT_AGENT || `github-actions/${env.GITHUB_REPOSITORY}`],
]
// Gives the same step of the same run the same claim, and each job of a matrix, which has no name of its own here, its own.
const { GITHUB_RUN_ID, GITHUB_RUN_ATTEMPT, GITHUB_JOB, GITHUB_ACTION } = env
const digest = createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 16)
const id = [GITHUB_RUN_ID, GITHUB_RUN_ATTEMPT, digest, GITHUB_JOB, GITHUB_ACTION].join('-').slice(0, 256)
const dated = claimedAt ? ['--claimed-at', claimedAt] : []
const args = [...before, 'claim', ...what, ...dated, ...['--id', id], `--wait=${env.INPUT_WAIT}`, '--json']
const { stdout, error } = spawnSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
if (error) stop(`${program} could not be run: ${error.message}`)
const claim = parsed(stdout)
if (!claim?.claim_id) stop(`the claim was not made: ${claim?.error?.message ?? 'the command printed no claim'}`)

const verdict = OUTCOMES.includes(claim.verdict) ? claim.verdict : 'queued'
const receiptId = /^rcpt_[0-9A-Za-z]+$/.test(claim.receipt_id ?? '') ? claim.receipt_id : ''
const receiptUrl = receiptId && `${env.CLAIMCHECK_URL.replace(/\/+$/, '')}/r/${receiptId}`
const outputs = { verdict, receipt_id: receiptId, receipt_url: receiptUrl, claim_id: plain(claim.claim_id) }
append(
  'GITHUB_OUTPUT',
  Object.entries(outputs).map(([name, value]) => `${name}=${value}`),
)
append('GITHUB_STEP_SUMMARY', [
  `### Claimcheck: ${verdict}`,
  '',
  `${code(action)} at ${code(claim.target)}${receiptUrl && `: [the receipt](${receiptUrl})`}`,
  '',
])
console.log(`${verdict} ${receiptUrl}`.trim())
if (failOn.includes(verdict)) {
  console.log(`::error title=Claimcheck::The claim is ${verdict}.`)
  process.exitCode = 1
}

/** The given command, or the one that the step before built. */
function command() {
  const words = (env.INPUT_COMMAND ?? '').split(/\s+/).filter(Boolean)
  if (words.length > 0) return words
  const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
  if (!existsSync(main))
    stop(`the command line is not built: ${main} is not there. Build it, or name another one with command`)
  return [process.execPath, fileURLToPath(new URL('../../bin/claimcheck-cli.js', import.meta.url))]
}

/** The push that started the workflow, or the one that the inputs name. */
function pushed() {
  const { INPUT_SHA: sha, INPUT_BRANCH: branch, INPUT_TARGET: target } = env
  const isNamed = Boolean(sha && branch)
  const event = isNamed ? { sha, branch } : eventPush()
  if (!isNamed && target && target !== env.GITHUB_REPOSITORY)
    stop(`target: the push that started this workflow was to ${env.GITHUB_REPOSITORY}. ${NAME_IT}`)
  if (branch && !sha && branch !== event.branch)
    stop(`branch: the push that started this workflow was to ${event.branch}. ${NAME_IT}`)
  const host = env.GITHUB_SERVER_URL ? [`host=${new URL(env.GITHUB_SERVER_URL).host}`] : []
  // `:=` takes the text as it is, also one that begins with `@`.
  return {
    params: [`sha=${sha || event.sha}`, `branch:=${JSON.stringify(event.branch)}`, ...host],
    // A commit that the workflow pushed itself is new.
    claimedAt: sha ? undefined : event.pushedAt,
  }
}

/**
 * The time of the push, by GitHub, as a claim dates it. The workflow may have waited, and the commit may have been forced away meanwhile. Without it,
 * and of a push so long ago that the host would have to have a log of it, the claim is of now.
 */
function timeOf(pushedAt) {
  const ms = typeof pushedAt === 'number' ? pushedAt * 1000 : Date.parse(pushedAt ?? '')
  return Date.now() - ms < RECENT_MS ? new Date(Math.min(ms, Date.now())).toISOString() : undefined
}

/** Every other event names a commit, too, which nobody pushed then: of the default branch, or of a merge that GitHub tries by itself. */
function eventPush() {
  const { GITHUB_EVENT_NAME: name = 'no event', GITHUB_EVENT_PATH: path } = env
  if (name !== 'push') stop(`this workflow was started by ${name}, and by no push. ${NAME_IT}`)
  const { ref, after, deleted, repository } = parsed(path && existsSync(path) ? readFileSync(path, 'utf8') : '') ?? {}
  if (typeof ref !== 'string' || !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(after ?? ''))
    stop(`the push that started this workflow could not be read at GITHUB_EVENT_PATH. ${NAME_IT}`)
  if (deleted || /^0+$/.test(after)) stop(`the push that started this workflow deleted ${ref}. ${NAME_IT}`)
  if (!ref.startsWith('refs/heads/')) stop(`branch: ${ref}, which was pushed, is no branch. ${NAME_IT}`)
  return { sha: after, branch: ref.slice('refs/heads/'.length), pushedAt: timeOf(repository?.pushed_at) }
}

/** `name=text` is that text. A foreign text may begin with `@`, which the command takes for the name of a local file. */
function literal(param) {
  const [, name, text] = /^\s*([A-Za-z_]\w*)=(.*)$/.exec(param) ?? []
  return name === undefined ? param : `${name}:=${JSON.stringify(text)}`
}

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function append(name, lines) {
  if (env[name]) appendFileSync(env[name], `${lines.join('\n')}\n`)
}

function plain(text) {
  return String(text).replace(/[^\w-]/g, '')
}

/** Texts of others in Markdown: without what would end the span or the line. */
function code(text) {
  return `\`${String(text).replace(/[`\p{C}]/gu, '?')}\``
}

function stop(problem) {
  console.log(`::error title=Claimcheck::${problem.replace(/%/g, '%25').replace(/\r/g, '%0D').replace(/\n/g, '%0A')}`)
  process.exit(1)
}
