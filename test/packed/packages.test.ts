// Test run: end-to-end, slow
/** Core and the client as others get them: installed in an empty folder, and used as their READMEs show. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { packageFolders, repositoryAddress, repositoryFields } from '../../scripts/repository.ts'
import { moduleOf, namedExports, namedIn } from '../docs/exports.ts'
import { type Block, readPage } from '../docs/markdown.ts'
import { Installation } from '../support/installation.ts'
import { serving } from '../support/serving.ts'
import { installPacked } from './installed.ts'

const execute = promisify(execFile)
const README = await readFile('core/README.md', 'utf8')
const CLIENT_README = await readFile('core/client/README.md', 'utf8')
/** Those of the README; of a plugin and its test kit, for which the guide shows larger ones, those beside this file. */
const EXAMPLES: readonly Pick<Block, 'text'>[] = [
  ...examplesIn(README),
  ...['plugin', 'testkit'].map((name) => ({ text: readFileSync(`test/packed/examples/${name}.ts`, 'utf8') })),
]
/** Of a page that it publishes, and claims to have published. */
const CLIENT_EXAMPLE = examplesIn(CLIENT_README).find(({ text }) => text.includes('web.page.publish'))!
const EAS_README = await readFile('plugins/anchor-eas/README.md', 'utf8')
const [EAS_EXAMPLE] = examplesIn(EAS_README) as [Block]
const TSC = resolve('node_modules/typescript/bin/tsc')

/** What the example of a subpath prints. A plugin prints nothing: a host loads it. */
const PRINTS: Readonly<Record<string, RegExp>> = {
  '@claimcheck/core/api': /client_claim_id.*\nfalse\n$/s,
  '@claimcheck/core/checker': /^valid: verified\n$/,
  '@claimcheck/core/hosting': /^https:\/\/git\.example\.com\n$/,
  '@claimcheck/core/log': /^true\n$/,
  '@claimcheck/core/plugin': /^$/,
  '@claimcheck/core/receipts': /^\{"a":\[true,null\],"b":1\}\n$/,
  '@claimcheck/core/rules': /^verified\n$/,
  '@claimcheck/core/testkit': /^conforms: true\n$/,
}

function examplesIn(readme: string): Block[] {
  return readPage(readme).blocks.filter(({ language }) => language === 'ts')
}

interface Outcome {
  readonly code: number
  readonly output: string
}

async function run(folder: string, program: string, args: readonly string[], env = process.env): Promise<Outcome> {
  try {
    const { stdout } = await execute(program, [...args], { cwd: folder, env })
    return { code: 0, output: stdout }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, output: `${stdout}${stderr}` }
  }
}

/** The subpath that an example is about: the first that it imports, but that a test kit is nothing without a plugin. */
function subpathOf({ text }: Pick<Block, 'text'>): string | undefined {
  if (text.includes("from '@claimcheck/core/testkit'")) return '@claimcheck/core/testkit'
  return /from '(@claimcheck\/core[^']*)'/.exec(text)?.[1]
}

function nameOf(example: Pick<Block, 'text'>): string {
  return subpathOf(example)!.split('/').at(-1)!
}

let folder: string
let installed: string

async function compile(sources: Readonly<Record<string, string>>, ...options: readonly string[]): Promise<Outcome> {
  for (const [file, text] of Object.entries(sources)) await writeFile(join(folder, file), text)
  const language = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--outDir', 'out', '--declaration']
  const types = ['--typeRoots', resolve('node_modules/@types'), '--types', 'node']
  return run(folder, process.execPath, [TSC, ...language, ...types, ...options, ...Object.keys(sources)])
}

t.before(async () => {
  folder = (await installPacked()).folder
  installed = join(folder, 'node_modules/@claimcheck/core')
  const copies = { 'receipt.json': 'valid-included-middle-leaf.json', 'keys.json': 'keys.json' }
  for (const [name, vector] of Object.entries(copies)) {
    await writeFile(join(folder, name), await readFile(`test/vectors/${vector}`))
  }
})

async function exportedSubpaths(): Promise<string[]> {
  const { name, exports } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
  // Single modules of words have no section.
  return Object.keys(exports).flatMap((key) => (key.endsWith('*') ? [] : [name + key.slice(1)]))
}

function withoutExample(subpaths: readonly string[], examples: readonly Pick<Block, 'text'>[]): string[] {
  const shown = new Set(examples.map(subpathOf))
  return subpaths.filter((subpath) => !shown.has(subpath))
}

t.test('the package holds its code, its types and its sources, and nothing of the build', async (t) => {
  const files = await readdir(installed, { recursive: true, encoding: 'utf8' })
  t.ok(files.includes('README.md'))
  t.strictSame(
    files.filter(
      (file) =>
        !/^(dist|src|README\.md$|LICENSE(?:-typebox|-unicode)?$|package\.json$)/.test(file) ||
        /tsbuildinfo|\.test\./.test(file),
    ),
    [],
  )
  const maps = files.filter((file) => file.endsWith('.map'))
  t.ok(maps.length > 30)
  for (const map of maps) {
    const { sources } = JSON.parse(await readFile(join(installed, map), 'utf8')) as { sources: string[] }
    for (const source of sources) t.ok(existsSync(join(installed, dirname(map), source)), `${map} finds ${source}`)
  }
})

t.test('the package brings all that it imports', async (t) => {
  const { dependencies } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
  t.strictSame(Object.keys(dependencies), ['@noble/curves', '@noble/hashes', 're2js', 'typebox'])
})

t.test('every subpath has an example, and what each example prints is known', async (t) => {
  const subpaths = await exportedSubpaths()
  t.strictSame(withoutExample(subpaths, EXAMPLES), [])
  t.strictSame(Object.keys(PRINTS), subpaths.toSorted())
  t.strictSame(withoutExample([...subpaths, '@claimcheck/core/new'], EXAMPLES), ['@claimcheck/core/new'])
})

t.test('the examples compile, and so does an import of every name that the README lists', async (t) => {
  const named = namedExports(README)
  t.strictSame([...named.keys()].toSorted(), (await exportedSubpaths()).toSorted())
  for (const [subpath, names] of named) t.ok(names.length > 1, `${subpath} lists names`)
  const examples = [
    ...EXAMPLES.map((example) => [`${nameOf(example)}.ts`, example.text] as const),
    ['client.ts', CLIENT_EXAMPLE.text] as const,
    ['eas.ts', EAS_EXAMPLE.text] as const,
  ]
  const clientNames = new Map([['@claimcheck/client', namedIn(CLIENT_README)]])
  t.ok(clientNames.get('@claimcheck/client')!.length > 15, 'the names of the client')
  const easNames = new Map([
    [
      '@claimcheck/plugin-anchor-eas/checker',
      [
        'createEasChecker',
        'examineSigned',
        'readSignedAttestation',
        'decodeAbi',
        'createRpc',
        'RpcError',
        'withTimeout',
      ],
    ],
  ])
  // Declarations of packages are checked, too: a reader may not skip that.
  const outcome = await compile({
    ...Object.fromEntries(examples),
    'named.ts': moduleOf(named),
    'client-named.ts': moduleOf(clientNames),
    'eas-named.ts': moduleOf(easNames),
  })
  t.strictSame(outcome, { code: 0, output: '' })
})

t.test('a README that names an export that is not there is refused', async (t) => {
  const wrong = namedExports('## `@claimcheck/core/checker`\n\n- `checkReceipt`, `checkReceipts`: a `Rapport`.\n')
  const { code, output } = await compile({ 'wrong.ts': moduleOf(wrong) }, '--skipLibCheck')
  t.not(code, 0)
  t.match(output, /'checkReceipts'/)
  t.match(output, /'Rapport'/)
  t.notMatch(output, /wrong\.ts\(1,/, 'the one that is there')
})

t.test('the example of a plugin verifies what the example of a client claims', async (t) => {
  const page = `${await serving(t, (_request, response) => response.end('news'))}/news`
  // What a claim names has to be public, and this page is not: the manifest names its host.
  const plugin = join(folder, 'out/plugin-of-page.js')
  await writeFile(
    plugin,
    (await readFile(join(folder, 'out/plugin.js'), 'utf8')).replace(
      "hosts: ['target']",
      `hosts: ['${new URL(page).host}']`,
    ),
  )
  const installation = await Installation.during(t, {
    plugins: [{ use: plugin }],
    env: { ALLOW_PRIVATE: new URL(page).host },
  })
  const { key } = await installation.client('examples')

  const client = await readFile(join(folder, 'out/client.js'), 'utf8')
  const filled = client.replace('http://localhost:8080', installation.url).replace('https://example.com/news', page)
  await writeFile(join(folder, 'out/client.js'), filled)
  const { code, output } = await run(folder, process.execPath, ['out/client.js'], { ...process.env, KEY: key })
  t.equal(code, 0, output)
  t.match(output, /^published verified true\n$/)
})

t.test('the other examples print what they are there for', async (t) => {
  for (const example of EXAMPLES) {
    const { code, output } = await run(folder, process.execPath, [`out/${nameOf(example)}.js`])
    t.equal(code, 0, output)
    t.match(output, PRINTS[subpathOf(example)!], nameOf(example))
  }
})

t.test('the check of an anchor runs without the library that makes anchors', async (t) => {
  t.notOk(existsSync(join(folder, 'node_modules/ethers')))
  const { code, output } = await run(folder, process.execPath, ['out/eas.js'])
  t.strictSame([code, output], [0, 'trust level 1, anchor: absent\n'])
  const plugin = `import('@claimcheck/plugin-anchor-eas').then(({ default: { setup } }) => setup({}, {}))`
  const setUp = await run(folder, process.execPath, ['--input-type=module', '-e', `await ${plugin}`])
  t.match(setUp.output, /the package ethers is not installed: npm install ethers@\d/)
})

t.test(
  'every package has the same version, engines and licence, and names the others by exactly that version',
  async (t) => {
    const { version, license, engines } = JSON.parse(await readFile('package.json', 'utf8'))
    const folders = packageFolders()
    t.ok(folders.length > 8)
    const text = await readFile('LICENSE', 'utf8')
    for (const folder of [...folders, 'core/python'])
      t.equal(await readFile(join(folder, 'LICENSE'), 'utf8'), text, folder)
    for (const folder of folders) {
      const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
      t.match(manifest, { version, license, engines, publishConfig: { access: 'public' } }, folder)
      const own = Object.entries(manifest.dependencies ?? {}).filter(([name]) => name.startsWith('@claimcheck/'))
      for (const [name, wanted] of own) t.equal(wanted, version, `${folder} needs ${name}`)
    }
    t.match(await readFile('core/python/pyproject.toml', 'utf8'), `version = "${version}"`)
  },
)

t.test('every package says what it is, where it comes from, and where to report what is wrong with it', async (t) => {
  for (const folder of ['.', ...packageFolders()]) {
    const { keywords, description, repository, homepage, bugs } = JSON.parse(
      await readFile(join(folder, 'package.json'), 'utf8'),
    )
    t.ok(keywords.length > 2 && description.length > 20, folder)
    t.strictSame({ repository, homepage, bugs }, repositoryFields(repositoryAddress(), folder), folder)
  }
})

t.test('the address of the repository is one that a browser opens', async (t) => {
  t.match(repositoryAddress(), /^https:\/\/[^/]+\/.*[^/]$/)
  for (const address of ['', 'git@example.com:a/b.git', 'https://example.com/a.git', 'http://example.com/a']) {
    const { code, output } = await run('.', process.execPath, ['build/scripts/repository.js', address])
    t.equal(code, 2, address)
    t.match(output, /^Which address\? npm run repository -- https:/)
  }
})
