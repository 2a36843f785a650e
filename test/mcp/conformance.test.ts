// Test run: end-to-end, every-node
/** The protocol's own conformance tests, against the program that ships. Those that ask for what no server but theirs has are listed. */
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { sharedInstallation } from '../support/installation.ts'
import { serving } from '../support/serving.ts'

const SUITE = resolve('node_modules/@modelcontextprotocol/conformance/dist/index.js')
const [MAJOR] = process.versions.node.split('.')
const skip = Number(MAJOR) < 22 ? 'the conformance tests of MCP need Node.js 22: `.ci/run` runs them there' : false

const FIXTURE = 'it calls a tool, resource or prompt of the suite’s own server'
const STATELESS = 'the service keeps nothing between requests: wait_for_claim waits for a decision'
/** What does not apply, and why. What is not here has to pass. */
const DOES_NOT_APPLY: Readonly<Record<string, string>> = {
  'tools-call-simple-text': FIXTURE,
  'tools-call-image': FIXTURE,
  'tools-call-audio': FIXTURE,
  'tools-call-embedded-resource': FIXTURE,
  'tools-call-mixed-content': FIXTURE,
  'tools-call-with-logging': FIXTURE,
  'tools-call-error': FIXTURE,
  'tools-call-with-progress': FIXTURE,
  'tools-call-sampling': FIXTURE,
  'tools-call-elicitation': FIXTURE,
  'json-schema-2020-12': FIXTURE,
  'elicitation-sep1034-defaults': FIXTURE,
  'elicitation-sep1330-enums': FIXTURE,
  'resources-read-text': FIXTURE,
  'resources-read-binary': FIXTURE,
  'resources-templates-read': FIXTURE,
  'prompts-get-simple': FIXTURE,
  'prompts-get-with-args': FIXTURE,
  'prompts-get-embedded-resource': FIXTURE,
  'prompts-get-with-image': FIXTURE,
  'logging-set-level': 'the server sends no log messages to clients',
  'resources-subscribe': STATELESS,
  'resources-unsubscribe': STATELESS,
}

const shared = sharedInstallation()

t.test('what applies passes', { skip }, async (t) => {
  const installation = await shared()
  const { key } = await installation.client('conformance')
  const results = await runSuite(t, await withKey(t, installation.url, key))
  t.ok(results.size > Object.keys(DOES_NOT_APPLY).length)
  for (const scenario of Object.keys(DOES_NOT_APPLY)) t.ok(results.has(scenario), `${scenario} is a scenario`)
  for (const [scenario, checks] of results) {
    const failed = checks.filter(({ status }) => status === 'FAILURE')
    const reason = DOES_NOT_APPLY[scenario]
    if (reason === undefined) t.ok(checks.length > 0 && failed.length === 0, scenario, { found: failed, wanted: [] })
    else t.not(failed.length, 0, `${scenario} passes now: take it off the list (${reason})`)
  }
})

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

/** The checks of each scenario. */
async function runSuite(t: Test, url: string): Promise<ReadonlyMap<string, readonly Check[]>> {
  const folder = t.testdir()
  const args = [SUITE, 'server', '--url', url, '--suite', 'all', '--output-dir', folder]
  // It ends with 1, as some of its scenarios do not apply.
  await promisify(execFile)(process.execPath, args, { cwd: folder, timeout: 60_000 }).catch(() => {})
  const names = await readdir(folder)
  const read = names.map(async (name): Promise<[string, readonly Check[]]> => {
    const text = await readFile(join(folder, name, 'checks.json'), 'utf8')
    return [name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, ''), JSON.parse(text)]
  })
  return new Map(await Promise.all(read))
}

/** An address that leads to /mcp with a key, which the suite cannot send. */
async function withKey(t: Test, url: string, key: string): Promise<string> {
  const origin = await serving(t, (asked, answer) => {
    const headers = { ...asked.headers, authorization: `Bearer ${key}` }
    const passed = request(new URL(asked.url!, url), { method: asked.method, headers }, (got) => {
      answer.writeHead(got.statusCode!, got.headers)
      got.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    asked.pipe(passed)
  })
  return `${origin}/mcp`
}
