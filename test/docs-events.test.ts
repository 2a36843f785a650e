/** The examples of the page on events: each runs as it stands there, and hears of a claim. */
import { spawn } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { transform } from 'esbuild'
import t, { type Test } from 'tap'
import { readPage } from './docs/markdown.ts'
import { sharedInstallation } from './support/installation.ts'

const shared = sharedInstallation()
const { blocks } = readPage(readFileSync('server/docs/events.md', 'utf8'))
const SOON_MS = 30_000

/** Makes the command of an example. */
async function commandOf(t: Test, language: string, text: string): Promise<[string, ...string[]]> {
  if (language === 'sh') return ['bash', '-c', `exec ${text}`]
  if (language === 'python') return ['python3', '-u', '-c', text]
  const folder = t.testdir()
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const file = join(folder, 'example.mjs')
  writeFileSync(file, (await transform(text, { loader: 'ts', format: 'esm' })).code)
  return [process.execPath, file]
}

for (const { language, text, line } of blocks.filter(({ language }) => language !== '')) {
  t.test(`the example in line ${line}, ${language}, hears of a claim`, async (t) => {
    const installation = await shared()
    const client = await installation.client(`example ${line}`)
    // A list begins with what was before.
    const isList = text.includes('after=0')
    if (isList) await client.submit()
    const filled = text.replaceAll('http://localhost:8080', installation.url)
    const [program, ...args] = await commandOf(t, language, filled)
    const child = spawn(program, args, {
      env: { ...process.env, KEY: client.key, PYTHONPATH: resolve('core/python'), PYTHONDONTWRITEBYTECODE: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.teardown(() => child.kill('SIGKILL'))
    let printed = ''
    child.stdout.on('data', (piece) => {
      printed += piece
    })
    const end = Date.now() + SOON_MS
    // Claims follow until the example listens.
    for (; !/clm_\w{26}/.test(printed) && Date.now() < end; await setTimeout(200)) if (!isList) await client.submit()
    t.match(printed, /verified/)
  })
}
