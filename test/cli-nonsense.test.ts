// Test run: end-to-end, slow
/** A service that never ends, drips, or leads around: commands end within bounds, with what they say of it. Threat O10 of `security.md`. */
import type { RequestListener } from 'node:http'
import t from 'tap'
import { runClaimcheck } from './support/command.ts'
import { LONG } from './support/extent.ts'
import { serving } from './support/serving.ts'

const MEGABYTE = Buffer.alloc(1024 * 1024, ' ')

const WAYS: Readonly<Record<string, { readonly answer: RequestListener; readonly isSlow?: true }>> = {
  'a body without an end': {
    answer: (_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write(MEGABYTE));
      }
      response.on('drain', more)
      more()
    },
  },
  'an error without an end': {
    answer: (_request, response) => {
      response.statusCode = 410
      const more = () => {
        while (!response.destroyed && response.write(MEGABYTE));
      }
      response.on('drain', more)
      more()
    },
  },
  'redirects to itself': { answer: ({ url }, response) => void response.writeHead(302, { location: `${url}x` }).end() },
  'redirects elsewhere': {
    answer: (_request, response) => void response.writeHead(302, { location: 'https://a.example/' }).end(),
  },
  'a page': { answer: (_request, response) => void response.end('<!doctype html><p>Welcome') },
  'a drip': {
    isSlow: true,
    answer: (_request, response) => {
      const drip = setInterval(() => response.write(' '), 200)
      response.on('close', () => clearInterval(drip))
    },
  },
}

/** Each with its exit code where the service is no service. */
const COMMANDS: readonly (readonly [args: (url: string) => readonly string[], code: number])[] = [
  [() => ['claims', 'watch', 'clm_1'], 1],
  [() => ['claims', 'list'], 1],
  [() => ['claim', '--action', 'a.b.c', '--target', 't', '--wait'], 1],
  [() => ['receipt', 'verify', 'rcpt_1'], 2],
  [(url) => ['verify', `${url}/v1/log/proof?index=1`], 2],
]

for (const [what, { answer, isSlow }] of Object.entries(WAYS)) {
  t.test(`commands end where a service answers with ${what}`, LONG, async (t) => {
    const url = await serving(t, answer)
    const env = { CLAIMCHECK_URL: url, CLAIMCHECK_API_KEY: 'k' }
    const folder = t.testdir()
    const outcomes = await Promise.all(
      COMMANDS.map(async ([args, code]) => {
        const startedAt = performance.now()
        const outcome = await runClaimcheck(folder, args(url), env)
        return { args: args(url), code, outcome, seconds: (performance.now() - startedAt) / 1000 }
      }),
    )
    for (const { args, code, outcome, seconds } of outcomes) {
      // A page may be any document, which is checked, and is not valid.
      const isChecked = code === 2 && what === 'a page'
      t.equal(outcome.code, isChecked ? outcome.code : code, `${args}: ${outcome.stderr}`)
      t.ok([1, 2].includes(outcome.code!), `${args}: ${outcome.code}`)
      t.match(outcome.stderr + outcome.stdout, /\S/, `${args}`)
      t.notMatch(outcome.stderr, /^ {4}at /m)
      t.ok(seconds < (isSlow ? 45 : 30), `${args}: ${seconds} s`)
    }
  })
}
