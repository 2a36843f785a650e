/**
 * `npm run openapi`: holds the API description against what others make of it. Two generators make clients of it, which have to compile, and
 * the API's tests run with Prism before the service. `npm test` looks for mistakes in the description itself.
 */
import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Installation } from '../test/support/installation.ts'
import { installTools } from './tools.ts'

const TOOL = resolve('test/tools/openapi/node_modules')
const PLUGINS = ['codehost', 'http', 'registry'].map((name) => ({ use: `@claimcheck/plugin-${name}`, trusted: true }))
/** Tests of the API that need no connection of their own to a host. */
const API_TESTS = ['claims', 'erasure', 'keys', 'lifecycle', 'log', 'messages', 'verdicts'].map(
  (name) => `test/api/${name}.test.ts`,
)

await installTools(['openapi'])
const folder = await mkdtemp(join(tmpdir(), 'claimcheck-openapi-'))
try {
  const document = join(folder, 'openapi.json')
  await writeFile(document, await description())
  make('hey-api', [
    '@hey-api/openapi-ts/bin/run.js',
    '-i',
    document,
    '-o',
    join(folder, 'hey-api'),
    '-c',
    '@hey-api/client-fetch',
  ])
  make('swagger-typescript-api', [
    'swagger-typescript-api/dist/cli.mjs',
    'generate',
    '-p',
    document,
    '-o',
    join(folder, 'swagger-typescript-api'),
  ])
  for (const client of ['hey-api', 'swagger-typescript-api']) await compile(client)
  run('the API tests behind prism', ['build/scripts/test.js', ...API_TESTS], { VALIDATE_ANSWERS: '1' })
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function description(): Promise<string> {
  const installation = await Installation.start({ plugins: PLUGINS })
  try {
    return await (await fetch(`${installation.url}/openapi.json`)).text()
  } finally {
    await installation.remove()
  }
}

function make(client: string, [program, ...args]: readonly string[]): void {
  run(`${client} makes a client`, [join(TOOL, program!), ...args])
}

async function compile(client: string): Promise<void> {
  const files = (await readdir(join(folder, client), { recursive: true })).filter((name) => name.endsWith('.ts'))
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'esnext']
  const libraries = ['--moduleResolution', 'bundler', '--lib', 'es2022,dom,dom.iterable']
  const paths = files.map((name) => join(folder, client, name))
  run(`the client of ${client} compiles`, [join(TOOL, 'typescript/bin/tsc'), ...options, ...libraries, ...paths])
}

function run(what: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })
  console.log(`${status === 0 ? 'ok' : 'NOT ok'}: ${what}`)
  if (status === 0) return
  console.log(stdout + stderr)
  process.exitCode = 1
}
