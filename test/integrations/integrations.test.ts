// Test run: end-to-end, slow, alone
/** What calls `claimcheck claim`: the GitHub Action's step, `git push-claimed`, and the hook of coding agents, with real bash, git and claims. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { GitServer } from '../destinations/git-server.ts'
import { afterFile } from '../support/after-file.ts'
import { connect } from '../support/connect.ts'
import { sharedInstallation } from '../support/installation.ts'

const CODEHOST = { use: resolve('plugins/codehost'), trusted: true }
/** Another command line than the one that they come with. */
const SERVER_COMMAND = `${process.execPath} ${resolve('server/bin/claimcheck.js')}`
const FOLDER = resolve('core/cli/integrations')
const run = promisify(execFile)

let server: Promise<GitServer> | undefined
function gitServer(): Promise<GitServer> {
  server ??= GitServer.start().then((started) => {
    afterFile(() => started.close())
    return started
  })
  return server
}

// The address of the git server is private, and chosen when it starts.
let shared: ReturnType<typeof sharedInstallation> | undefined
let count = 0

/** A workspace that reads a git server, a repository there, and a checkout of it with a commit that is not pushed yet. */
async function world(t: Test) {
  const git = await gitServer()
  shared ??= sharedInstallation({ plugins: [CODEHOST], env: { ALLOW_PRIVATE: new URL(git.url).host } })
  const installation = await shared()
  const slug = `acme/api-${++count}`
  await git.createRepository(slug)
  const client = await installation.client(`acme-${count}`)
  await connect(installation.claimcheck, client.workspaceId, 'git', { base_url: git.url })

  const folder = t.testdir()
  // Never in this process's way: the git server runs in it.
  const inFolder = async (...args: string[]) => {
    const { stdout } = await run('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.com', ...args], {
      cwd: folder,
    })
    return stdout.trim()
  }
  await inFolder('init', '-q', '-b', 'main')
  await inFolder('remote', 'add', 'origin', `${git.url}/${slug}.git`)
  await inFolder('commit', '-q', '--allow-empty', '-m', 'x')
  const env = {
    PATH: process.env.PATH!,
    HOME: folder,
    CLAIMCHECK_URL: installation.url,
    CLAIMCHECK_API_KEY: client.key,
  }
  const claims = async () => (await client.get('/v1/claims')).body.claims
  return {
    folder,
    env,
    slug,
    git: inFolder,
    sha: await inFolder('rev-parse', 'HEAD'),
    claims,
    host: new URL(git.url).host,
    url: git.url,
  }
}

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

async function ended(
  program: string,
  args: readonly string[],
  options: { cwd: string; env: object; input?: string },
): Promise<Ended> {
  const { cwd, env, input = '' } = options
  const child = spawn(program, args, { cwd, env: env as NodeJS.ProcessEnv, stdio: 'pipe' })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [code] = await once(child, 'close')
  return { code, stdout, stderr }
}

/** The script of the action's one step, and the names of its inputs, as GitHub would read them. */
function actionStep() {
  const text = readFileSync(join(FOLDER, 'github-action/action.yml'), 'utf8')
  const script = /\n {6}run: (.*)\n?$/.exec(text)![1]!
  const inputs = Object.fromEntries(
    [...text.matchAll(/^ {8}(\w+): \$\{\{ inputs\.([\w-]+) \}\}$/gm)].map(([, variable, input]) => [variable!, input!]),
  )
  const defaults = Object.fromEntries(
    [...text.matchAll(/^ {2}([\w-]+):\n {4}description: .*\n {4}default: (.*)$/gm)].map(([, name, value]) => [
      name!,
      value!.replace(/^'(.*)'$/, '$1'),
    ]),
  )
  return { script, inputs, defaults }
}

/** The members of GitHub's event of a push that say what was pushed: docs.github.com/webhooks/webhook-events-and-payloads#push. */
function pushOf({ sha, slug }: Awaited<ReturnType<typeof world>>) {
  return {
    ref: 'refs/heads/main',
    before: '0'.repeat(40),
    after: sha,
    created: true,
    deleted: false,
    forced: false,
    base_ref: null,
    compare: `https://github.com/${slug}/commit/${sha.slice(0, 12)}`,
    commits: [{ id: sha }],
    head_commit: { id: sha },
    repository: { full_name: slug, default_branch: 'main' },
    pusher: { name: 'a', email: 'a@example.com' },
  }
}

/** As the runner runs it: bash, the environment of a push, and its files. */
async function step(
  w: Awaited<ReturnType<typeof world>>,
  given: Readonly<Record<string, string>>,
  over = {},
  event: object | string = {},
) {
  const { script, inputs, defaults } = actionStep()
  const values: Readonly<Record<string, string>> = {
    ...defaults,
    url: w.env.CLAIMCHECK_URL,
    'api-key': w.env.CLAIMCHECK_API_KEY,
    wait: '10',
    ...given,
  }
  const files = { GITHUB_OUTPUT: join(w.folder, 'output'), GITHUB_STEP_SUMMARY: join(w.folder, 'summary') }
  for (const file of Object.values(files)) writeFileSync(file, '')
  const GITHUB_EVENT_PATH = join(w.folder, 'event.json')
  writeFileSync(GITHUB_EVENT_PATH, typeof event === 'string' ? event : JSON.stringify({ ...pushOf(w), ...event }))
  const env = {
    PATH: w.env.PATH,
    HOME: w.folder,
    ...Object.fromEntries(Object.entries(inputs).map(([variable, input]) => [variable, values[input] ?? ''])),
    ...files,
    GITHUB_ACTION_PATH: join(FOLDER, 'github-action'),
    GITHUB_REPOSITORY: w.slug,
    GITHUB_SERVER_URL: w.url,
    GITHUB_SHA: w.sha,
    GITHUB_EVENT_NAME: 'push',
    GITHUB_EVENT_PATH,
    GITHUB_REF: 'refs/heads/main',
    GITHUB_REF_TYPE: 'branch',
    GITHUB_REF_NAME: 'main',
    GITHUB_RUN_ID: '1',
    GITHUB_RUN_ATTEMPT: String(count),
    GITHUB_JOB: 'release',
    GITHUB_ACTION: 'claim',
    ...over,
  }
  const done = await ended('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], { cwd: w.folder, env })
  return {
    ...done,
    output: readFileSync(files.GITHUB_OUTPUT, 'utf8'),
    summary: readFileSync(files.GITHUB_STEP_SUMMARY, 'utf8'),
  }
}

t.test('the GitHub Action claims the push of its workflow, and sets outputs and summary', async (t) => {
  const w = await world(t)
  await w.git('push', '-q', 'origin', 'main')
  const done = await step(w, {})
  t.match(done, { code: 0 }, done.stdout + done.stderr)
  t.match(done.output, /^verdict=verified\nreceipt_id=rcpt_\w+\nreceipt_url=http:.*\/r\/rcpt_\w+\nclaim_id=clm_\w+\n$/)
  t.match(
    done.summary,
    /^### Claimcheck: verified\n\n`codehost\.commit\.push` at `acme\/api-\d+`: \[the receipt\]\(http/,
  )
  t.match(await w.claims(), [{ target: w.slug, agent_id: `github-actions/${w.slug}`, verdict: 'verified' }])
  t.match(await step(w, { command: SERVER_COMMAND }), { code: 0 })
  t.equal((await w.claims()).length, 1, 'the same step again, by another command line, is the same claim')
})

t.test('the GitHub Action dates a push by its event, and one of long ago by now', async (t) => {
  const w = await world(t)
  await w.git('push', '-q', 'origin', 'main')
  let runs = 0
  const datedBy = async (pushed_at: unknown, given = {}) => {
    const from = Date.now()
    const run = { GITHUB_RUN_ID: `dated-${++runs}` }
    const done = await step(w, { wait: '0', ...given }, run, { repository: { full_name: w.slug, pushed_at } })
    t.match(done, { code: 0 })
    const [, id] = /^claim_id=(.*)$/m.exec(done.output)!
    const claims = (await w.claims()) as readonly { readonly claim_id: string; readonly claimed_at: string }[]
    const ms = Date.parse(claims.find(({ claim_id }) => claim_id === id)!.claimed_at)
    return { ms, isNow: ms >= from - 1000 }
  }
  const ago = (minutes: number) => Math.floor(Date.now() / 1000) - minutes * 60
  const recent = ago(2)
  t.equal((await datedBy(recent)).ms, recent * 1000)
  t.equal((await datedBy(new Date(recent * 1000).toISOString())).ms, recent * 1000)
  for (const pushedAt of [ago(60), ago(-60), 'x', null, undefined]) t.ok((await datedBy(pushedAt)).isNow, `${pushedAt}`)
  t.ok((await datedBy(recent, { sha: w.sha, branch: 'main' })).isNow, 'a push of the workflow itself')
})

t.test('the GitHub Action fails by verdict, and where it cannot claim', async (t) => {
  const w = await world(t)
  t.match(await step(w, { wait: '0', 'fail-on': 'queued' }), {
    code: 1,
    stdout: /::error title=Claimcheck::The claim is queued/,
  })
  t.match(await step(w, { wait: '0' }), { code: 0, output: /^verdict=queued\nreceipt_id=\nreceipt_url=\n/ })
  t.match(await step(w, { 'fail-on': 'never' }), { code: 1, stdout: /fail-on: never is none of/ })
  t.match(await step(w, { wait: 'x' }), { code: 1, stdout: /wait: write a number/ })
  t.match(await step(w, { 'api-key': 'svc_sk_wrong' }), { code: 1, stdout: /::error.*invalid or missing API key/ })
  t.match(await step(w, { command: '/nothing/here' }), { code: 1, stdout: /could not be run/ })
  const evil = '$(touch sprung)`touch sprung`;touch sprung'
  t.match(await step(w, { sha: w.sha, branch: evil, wait: '0' }), { stdout: /./ })
  t.match(await step(w, { wait: '0' }, {}, { ref: `refs/heads/${evil}` }), { stdout: /./ })
  t.throws(() => readFileSync(join(w.folder, 'sprung')), { code: 'ENOENT' }, 'a branch is no command')
})

/** What GitHub sets for each event: docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows. */
const onDefault = { GITHUB_REF: 'refs/heads/main', GITHUB_REF_NAME: 'main', GITHUB_REF_TYPE: 'branch' }
const ofMerge = { GITHUB_REF: 'refs/pull/12/merge', GITHUB_REF_NAME: '12/merge', GITHUB_REF_TYPE: 'branch' }
const noPushes: readonly (readonly [name: string, env: object, payload: object])[] = [
  ['pull_request', ofMerge, { action: 'synchronize', number: 12, after: 'a'.repeat(40) }],
  ['pull_request_target', onDefault, { action: 'opened', number: 12 }],
  ['pull_request_review', ofMerge, { action: 'submitted', review: {} }],
  ['schedule', onDefault, { schedule: '0 8 * * 1-5' }],
  ['workflow_dispatch', onDefault, { ref: 'refs/heads/main', inputs: null, workflow: '.github/workflows/ci.yml' }],
  ['repository_dispatch', onDefault, { action: 'deploy', branch: 'main', client_payload: {} }],
  ['workflow_run', onDefault, { action: 'completed', workflow_run: { head_branch: 'main' } }],
  ['issue_comment', onDefault, { action: 'created', issue: { number: 12 }, comment: {} }],
  ['delete', onDefault, { ref: 'topic', ref_type: 'branch', pusher_type: 'user' }],
  ['create', { ...onDefault, GITHUB_REF: 'refs/heads/topic' }, { ref: 'topic', ref_type: 'branch' }],
  ['release', { GITHUB_REF: 'refs/tags/v1', GITHUB_REF_NAME: 'v1', GITHUB_REF_TYPE: 'tag' }, { action: 'published' }],
  ['merge_group', { GITHUB_REF: 'refs/heads/gh-readonly-queue/main/pr-12-abc' }, { action: 'checks_requested' }],
]

t.test('the GitHub Action claims no push in a workflow that something else started', async (t) => {
  const w = await world(t)
  await w.git('push', '-q', 'origin', 'main')
  for (const [name, env, payload] of noPushes) {
    const done = await step(w, {}, { GITHUB_EVENT_NAME: name, ...env }, JSON.stringify(payload))
    const told = new RegExp(`::error title=Claimcheck::this workflow was started by ${name}, and by no push`)
    t.match(done, { code: 1, stdout: told, output: '' }, name)
    t.match(
      await step(w, { sha: w.sha }, { GITHUB_EVENT_NAME: name, ...env }),
      { code: 1 },
      `${name}, half of it named`,
    )
  }
  const tag = { ref: 'refs/tags/v1', base_ref: 'refs/heads/main' }
  const deletion = { after: '0'.repeat(40), deleted: true, head_commit: null }
  for (const [what, event, told] of [
    ['a tag', tag, /refs\/tags\/v1, which was pushed, is no branch/],
    ['a deletion', deletion, /deleted refs\/heads\/main/],
    ['no payload', 'nonsense', /could not be read at GITHUB_EVENT_PATH/],
    ['no file', '', /could not be read at GITHUB_EVENT_PATH/],
  ] as const) {
    t.match(await step(w, {}, {}, event), { code: 1, stdout: told, output: '' }, what)
  }
  t.match(await step(w, { branch: 'other' }), { code: 1, stdout: /branch: the push .* was to main/ })
  t.match(await step(w, { target: 'acme/other' }), { code: 1, stdout: /target: the push .* was to acme\/api/ })
  t.strictSame(await w.claims(), [])
})

t.test(
  'the GitHub Action claims what the event says that was pushed, or what the workflow itself pushed',
  async (t) => {
    const w = await world(t)
    await w.git('push', '-q', 'origin', 'main')
    const other = { GITHUB_SHA: 'b'.repeat(40), GITHUB_REF: 'refs/heads/other', GITHUB_REF_NAME: 'other' }
    t.match(await step(w, {}, other), { code: 0, output: /^verdict=verified/ }, 'not what the environment says')
    const dispatched = { GITHUB_EVENT_NAME: 'schedule', GITHUB_JOB: 'bump', GITHUB_SHA: 'b'.repeat(40) }
    const own = await step(w, { sha: w.sha, branch: 'main' }, dispatched, '{"schedule":"0 8 * * *"}')
    t.match(own, { code: 0, output: /^verdict=verified/ })
    t.equal((await w.claims()).length, 2)
  },
)

t.test('jobs of one matrix claim what each of them did', async (t) => {
  const w = await world(t)
  const job = (target: string) => step(w, { action: 'acme.page.publish', target, params: 'title=x' })
  const [one, other] = [await job('front'), await job('back')]
  t.notSame(one.output, other.output)
  t.match(one.summary, 'at `front`')
  t.match(other.summary, 'at `back`')
  t.strictSame((await w.claims()).map(({ target }: { target: string }) => target).sort(), ['back', 'front'])
  t.match(await job('front'), { output: one.output }, 'once more, it is the same claim')
})

t.test('a text in a param of the GitHub Action is that text, and no file of the runner', async (t) => {
  const w = await world(t)
  writeFileSync(join(w.folder, 'secret.txt'), 'hush')
  const params = 'title=@secret.txt\n\nreason=a=b\nlabels:=["x"]\n'
  const done = await step(w, { action: 'acme.page.publish', target: 'front', params })
  const [receipt] = /http\S+\/r\/rcpt_\w+/.exec(done.output) ?? []
  t.ok(receipt, done.stdout + done.stderr)
  const { body } = JSON.parse(await (await fetch(receipt!.replace('/r/', '/v1/receipts/'))).text())
  t.strictSame(body.claim.params, { title: '@secret.txt', reason: 'a=b', labels: ['x'] })
})

t.test('git push-claimed claims what was pushed, and nothing where the push failed', async (t) => {
  const w = await world(t)
  const path = `${join(FOLDER, 'git-hook')}:${w.env.PATH}`
  const push = (args: string[], more = {}) =>
    ended('git', ['push-claimed', ...args], { cwd: w.folder, env: { ...w.env, PATH: path, ...more } })
  const failed = await push(['-q', 'origin', 'nothing'])
  t.not(failed.code, 0)
  t.equal((await w.claims()).length, 0)
  const pushed = await push(['-q', '-u', 'origin', 'main'])
  t.match(pushed, { code: 0, stdout: /^verified: / }, pushed.stderr)
  t.match(await w.claims(), [{ target: w.slug, verdict: 'verified' }])
  const away = { CLAIMCHECK_API_KEY: 'svc_sk_wrong' }
  t.match(await push(['-q', 'origin', 'main'], away), { code: 0, stderr: /invalid or missing/ }, 'the push is done')
  const strict = { CLAIMCHECK_STRICT: '1' }
  t.match(await push(['-q', 'origin', 'main'], { ...away, ...strict }), { code: 1 })
  const named = { ...strict, CLAIMCHECK_COMMAND: SERVER_COMMAND }
  t.match(await push(['-q', 'origin', 'main'], named), { code: 0, stdout: /^verified: / })
})

t.test('git push-claimed finds its command line through a link, and a copy says what to set', async (t) => {
  const w = await world(t)
  const script = join(FOLDER, 'git-hook/git-push-claimed')
  const from = (folder: string, more = {}) =>
    ended('git', ['push-claimed', '-q', '-u', 'origin', 'main'], {
      cwd: w.folder,
      env: { ...w.env, PATH: `${folder}:${w.env.PATH}`, CLAIMCHECK_STRICT: '1', ...more },
    })
  const [linked, copied] = [join(w.folder, 'linked'), join(w.folder, 'copied')]
  for (const folder of [linked, copied]) mkdirSync(folder)
  symlinkSync(script, join(linked, 'git-push-claimed'))
  t.match(await from(linked), { code: 0, stdout: /^verified: / })
  copyFileSync(script, join(copied, 'git-push-claimed'))
  t.match(await from(copied), { code: 1, stderr: /Nothing was claimed.*set CLAIMCHECK_COMMAND/ })
  t.match(await from(copied, { CLAIMCHECK_COMMAND: SERVER_COMMAND }), { code: 0, stdout: /^verified: / })
})

t.test('the hook of coding agents claims a push in the background, and never stands in the way', async (t) => {
  const w = await world(t)
  await w.git('push', '-q', '-u', 'origin', 'main')
  const hook = (event: unknown, more = {}) =>
    ended(process.execPath, [join(FOLDER, 'coding-agents/claim-push.mjs')], {
      cwd: '/',
      env: { ...w.env, ...more },
      input: typeof event === 'string' ? event : JSON.stringify(event),
    })
  const event = (command: string, over = {}) => ({
    session_id: 's',
    transcript_path: '/t.jsonl',
    cwd: w.folder,
    hook_event_name: 'PostToolUse',
    tool_name: 'Bash',
    tool_input: { command, description: 'd' },
    tool_response: { stdout: '', stderr: '', interrupted: false, isImage: false },
    ...over,
  })
  const quiet = { code: 0, stdout: '', stderr: '' }
  for (const [what, given] of Object.entries({
    'no JSON': 'nonsense',
    nothing: '',
    null: 'null',
    'another tool': event('git push', { tool_name: 'Write' }),
    'another event': event('git push', { hook_event_name: 'PreToolUse' }),
    'another command': event('echo git push'),
    'a dry run': event('git push --dry-run'),
    'tags alone': event('git push --tags'),
    'an interrupted one': event('git push', { tool_response: { interrupted: true } }),
    'a folder that a shell works out': event('cd "$ELSEWHERE" && git push'),
    'a broken command': event(7 as never),
  })) {
    t.same(await hook(given, { CLAIMCHECK_HOOK: 'wait' }), quiet, what)
  }
  t.equal((await w.claims()).length, 0)

  t.same(await hook(event('git push'), { CLAIMCHECK_COMMAND: '/nothing/here' }), quiet, 'no command')
  t.same(await hook(event('git add -A && git commit -m x && git push origin main')), quiet)
  for (let tries = 0; (await w.claims()).length === 0 && tries < 200; tries++) await setTimeout(100)
  t.match(await w.claims(), [{ target: w.slug, agent_id: 'coding-agent' }])

  const wait = { CLAIMCHECK_HOOK: 'wait' }
  const elsewhere = event(`cd ${w.folder} && git push`, { cwd: '/' })
  t.same(await hook(elsewhere, wait), quiet, 'verified: nothing to say')
  t.equal((await w.claims()).length, 2)
  await w.git('commit', '-q', '--allow-empty', '-m', 'y')
  t.match(
    await hook(event(`git -C ${w.folder} push`, { cwd: '/' }), wait),
    { code: 2, stderr: /not on origin\/main/ },
    'told where asked for',
  )
})

t.test('the GitHub Action names no package of Claimcheck at a registry, and keeps the key from what installs', (t) => {
  const text = readFileSync(join(FOLDER, 'github-action/action.yml'), 'utf8')
  t.notMatch(text, /npx|npm (?:install|exec)|@claimcheck\/\w+@/)
  const [, install] = /steps:\n(.*?)\n {4}- id: claim/s.exec(text)!
  t.match(install, /if: inputs\.command == ''/)
  t.match(install, /npm ci --workspace @claimcheck\/cli --ignore-scripts/)
  t.notMatch(install, /env:|inputs\.api-key/)
  t.end()
})

t.test('the scripts are in the package, and the hook may be run', async (t) => {
  const { files } = JSON.parse(readFileSync('core/cli/package.json', 'utf8'))
  t.ok(files.includes('integrations'))
  await run('sh', ['-n', join(FOLDER, 'git-hook/git-push-claimed')])
})
