// Test run: slow
/** The package of a plugin: what it reads, its digest, and whether it is trusted. Threats P3 and P5 of `security.md`. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { isolationProblem } from '@claimcheck/core/sandbox/problems'
import { startSandboxed } from '@claimcheck/core/sandbox/sandbox'
import { locatePlugin } from '@claimcheck/server/plugins/package'
import { codeHashOf, MOST_BYTES, MOST_FILES } from '@claimcheck/server/plugins/package-files'
import { isShipped } from '@claimcheck/server/plugins/shipped'
import t, { type Test } from 'tap'
import { LONG } from '../../../test/support/extent.ts'

/** Contents by path; `-> target` makes a link. */
type Tree = Readonly<Record<string, string>>

/** An installation below which nothing else is installed. */
function grow(t: Test, tree: Tree): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'claimcheck-plugin-')))
  t.teardown(() => rmSync(base, { recursive: true, force: true }))
  mkdirSync(join(base, 'app'))
  for (const [path, content] of Object.entries(tree)) {
    mkdirSync(dirname(join(base, path)), { recursive: true })
    const [, target] = /^-> (.*)$/.exec(content) ?? []
    if (target === undefined) writeFileSync(join(base, path), content)
    else symlinkSync(target.startsWith('/data') ? join(base, target) : target, join(base, path))
  }
  return base
}

/** A package.json. */
function json(members: object): string {
  return JSON.stringify({ name: 'some-plugin', version: '1.2.3', type: 'module', ...members })
}

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work
  } catch (error) {
    return (error as { code?: string }).code ?? error
  }
}

const IN_MODULES = 'app/node_modules/some-plugin'
/** `some-plugin`, with empty files. */
function installed(members: object, ...files: string[]): Tree {
  const empty = files.map((file) => [`${IN_MODULES}/${file}`, ''])
  return { [`${IN_MODULES}/package.json`]: json(members), ...Object.fromEntries(empty) }
}

/** A plugin in the folder `p`. */
function folder(members: object = {}, more: Tree = {}): Tree {
  return { 'app/p/package.json': json(members), 'app/p/index.js': '', ...more }
}

const CONDITIONS = { require: './r.cjs', browser: './b.js', node: { import: './i.js' }, default: './d.js' }
const found: [what: string, tree: Tree, use: string, entry: string, root: string | undefined][] = [
  ['a package', installed({ exports: './a.js' }, 'a.js'), 'some-plugin', `${IN_MODULES}/a.js`, IN_MODULES],
  [
    'a package by its conditions',
    installed({ exports: { '.': CONDITIONS } }, 'i.js'),
    'some-plugin',
    `${IN_MODULES}/i.js`,
    IN_MODULES,
  ],
  [
    'a module of a package',
    installed({ exports: { './*': './dist/*.js' } }, 'dist/x.js'),
    'some-plugin/x',
    `${IN_MODULES}/dist/x.js`,
    IN_MODULES,
  ],
  [
    'a package whose folders say how they are read',
    { ...installed({ exports: './esm/a.js' }, 'esm/a.js'), [`${IN_MODULES}/esm/package.json`]: '{ "type": "module" }' },
    'some-plugin',
    `${IN_MODULES}/esm/a.js`,
    IN_MODULES,
  ],
  [
    'a package with main',
    installed({ main: 'lib' }, 'lib/index.js'),
    'some-plugin',
    `${IN_MODULES}/lib/index.js`,
    IN_MODULES,
  ],
  [
    'a linked package',
    { 'app/node_modules/some-plugin': '-> ../../shop/one', 'shop/one/package.json': json({}), 'shop/one/index.js': '' },
    'some-plugin',
    'shop/one/index.js',
    'shop/one',
  ],
  [
    'a package of a folder above',
    { 'node_modules/@some/plugin/package.json': json({}), 'node_modules/@some/plugin/index.js': '' },
    '@some/plugin',
    'node_modules/@some/plugin/index.js',
    'node_modules/@some/plugin',
  ],
  [
    'a folder with exports',
    folder({ exports: { '.': { types: './a.d.ts', import: ['./b.js'] } } }, { 'app/p/b.js': '' }),
    './p',
    'app/p/b.js',
    'app/p',
  ],
  [
    'a folder without a name',
    { 'app/p/package.json': '{ "exports": { "node": "./a.mjs" } }', 'app/p/a.mjs': '' },
    './p/',
    'app/p/a.mjs',
    'app/p',
  ],
  ['a folder with main', folder({ main: './lib/a.js' }, { 'app/p/lib/a.js': '' }), './p', 'app/p/lib/a.js', 'app/p'],
  ['a folder without either', { 'p/package.json': json({}), 'p/index.js': '' }, '../p', 'p/index.js', 'p'],
  [
    'the module that a package offers',
    folder({ main: 'lib/a.js' }, { 'app/p/lib/a.js': '' }),
    './p/lib/a.js',
    'app/p/lib/a.js',
    'app/p',
  ],
  [
    'another file of a package',
    folder({ main: 'lib/a.js' }, { 'app/p/lib/a.js': '', 'app/p/lib/b.js': '' }),
    './p/lib/b.js',
    'app/p/lib/b.js',
    undefined,
  ],
  ['a lone file', { 'app/a.mjs': '' }, './a.mjs', 'app/a.mjs', undefined],
  [
    "a lone file below the operator's own package",
    { 'app/package.json': json({}), 'app/lib/a.js': '' },
    './lib/a.js',
    'app/lib/a.js',
    undefined,
  ],
  [
    'a linked file',
    { 'app/a.mjs': '-> ../p/a.mjs', 'p/a.mjs': '', 'p/package.json': json({ exports: './a.mjs' }) },
    './a.mjs',
    'p/a.mjs',
    'p',
  ],
]
for (const [what, tree, use, entry, root] of found) {
  t.test(`${what} resolves as an import does`, async (t) => {
    const base = grow(t, tree)
    const plugin = await locatePlugin(use, join(base, 'app'))
    t.equal(plugin.entry, join(base, entry))
    t.equal(plugin.root, root === undefined ? undefined : join(base, root))
    if (root !== undefined) t.strictSame(plugin.packages, [join(base, root)])
    t.match(plugin.codeHash, /^sha256:[0-9a-f]{64}$/)
  })
}

const refused: [code: string, ...rows: [what: string, tree: Tree, use?: string][]][] = [
  [
    'not_installed',
    ['a package that is not there', {}, 'some-plugin'],
    ['the name of a file without ./', { 'app/a.mjs': '' }, 'a.mjs'],
  ],
  [
    'no_such_file',
    ['a file that is not there', {}, './a.mjs'],
    ['a file below a file', { 'app/a.mjs': '' }, './a.mjs/b.mjs'],
    ['a link in a circle', { 'app/a.mjs': '-> a.mjs' }, './a.mjs'],
    ['a file without its ending', { 'app/a.mjs': '' }, './a'],
    ['a package that was not built', installed({ exports: './dist/a.js' }), 'some-plugin'],
    ['a folder that was not built', { 'app/p/package.json': json({ main: './dist/a.js' }) }],
    ['a package without a module', installed({}), 'some-plugin'],
  ],
  [
    'not_exported',
    ['what exports do not offer', installed({ exports: { '.': './a.js' } }, 'b.js'), 'some-plugin/b.js'],
    ['exports for require alone', installed({ exports: { require: './a.cjs' } }, 'a.cjs'), 'some-plugin'],
    ['a folder that exports for require alone', folder({ exports: { require: './a.cjs' } }, { 'app/p/a.cjs': '' })],
    ['a folder that exports what is beside it', folder({ exports: './../a.js' }, { 'app/a.js': '' })],
  ],
  [
    'invalid_package',
    ['a package.json that is not JSON', { ...installed({}), [`${IN_MODULES}/package.json`]: '{' }, 'some-plugin'],
    ["a folder's package.json that is not JSON", { 'app/p/package.json': '{' }],
    ["a folder's package.json that is a list", { 'app/p/package.json': '[]' }],
    [
      'a dependency whose package.json is not JSON',
      folder({ dependencies: { x: '1' } }, { 'app/node_modules/x/package.json': '{' }),
    ],
  ],
  [
    'not_a_plugin',
    ['a folder without a package.json', { 'app/p/index.js': '' }],
    ['a module of Node', {}, 'node:fs'],
    ['an address', {}, 'https://example.com/plugin.js'],
    ['no name', {}, '@some'],
  ],
  [
    'forbidden_folder',
    ["the configuration's own folder", { 'app/package.json': json({}), 'app/index.js': '' }, '.'],
    ["a folder around the configuration's", { 'package.json': json({}), 'index.js': '' }, '..'],
    [
      'a dependency around the configuration',
      { 'p/package.json': json({ dependencies: { x: '1' } }), 'p/index.js': '', 'node_modules/x': '-> ..' },
      '../p',
    ],
    ['a folder with the data', folder({}, { 'app/p/data/key': '' })],
  ],
  [
    'stray_link',
    ['a link to the data', folder({}, { 'app/p/lib/key': '-> /data/key', 'data/key': '' })],
    ['a link to a folder with all', folder({}, { 'app/p/all': '-> /' })],
    ['a link to what may be there later', folder({}, { 'app/p/key': '-> /data/key' })],
    ['a link to the data in node_modules', folder({}, { 'app/p/node_modules/x': '-> /data', 'data/key': '' })],
    ['a link to the data in a hidden folder', folder({}, { 'app/p/.x/y': '-> /data', 'data/key': '' })],
    [
      "a dependency's link to the data",
      folder(
        { dependencies: { x: '1' } },
        { 'app/node_modules/x/package.json': '{}', 'app/node_modules/x/key': '-> /data/key', 'data/key': '' },
      ),
    ],
  ],
  [
    'unlisted_file',
    ['a module that the digest leaves out', folder({ main: './.a.js' }, { 'app/p/.a.js': '' })],
    ['a file name with a line break', folder({}, { 'app/p/a\nb': '' })],
  ],
]
for (const [code, ...rows] of refused) {
  for (const [what, tree, use = './p'] of rows) {
    t.test(`${code}: ${what}`, async (t) => {
      const base = grow(t, tree)
      const data = 'app/p/data/key' in tree ? 'app/p/data' : 'data'
      t.equal(await codeOf(locatePlugin(use, join(base, 'app'), [join(base, data)])), code)
    })
  }
}

t.test('links within the package, or from node_modules to what is installed, do not lead out', async (t) => {
  const links = {
    'app/p/lib': '-> dist',
    'app/p/node_modules/.bin/tsc': '-> ../../../node_modules/typescript/tsc.js',
  }
  const targets = { 'app/p/dist/a.js': '', 'app/node_modules/typescript/tsc.js': '' }
  const base = grow(t, folder({}, { ...links, ...targets }))
  t.equal((await locatePlugin('./p', join(base, 'app'))).root, join(base, 'app/p'))
})

t.test('a plugin reads its dependencies, theirs, and nothing beside', async (t) => {
  const base = grow(t, {
    'app/p/package.json': json({
      dependencies: { a: '1', '../../data': '1', absent: '1', '': '1' },
      peerDependencies: { peer: '1' },
      optionalDependencies: { '@o/optional': '1' },
      devDependencies: { development: '1' },
    }),
    'app/p/index.js': '',
    'app/node_modules/a/package.json': json({ dependencies: { b: '2', p: '1' } }),
    'app/node_modules/a/node_modules/b/package.json': json({}),
    'app/node_modules/b/package.json': json({}),
    'app/node_modules/p': '-> ../p',
    'app/node_modules/peer/package.json': json({ dependencies: 'none' }),
    'app/node_modules/@o/optional/package.json': json({ dependencies: { a: '1' } }),
    'app/node_modules/development/package.json': json({}),
    'app/node_modules/@claimcheck/core/package.json': json({}),
    'data/package.json': json({}),
  })
  const { packages, links } = await locatePlugin('./p', join(base, 'app'))
  const expected = [
    'p',
    'node_modules/@claimcheck/core',
    'node_modules/@o/optional',
    'node_modules/a',
    'node_modules/a/node_modules/b',
    'node_modules/peer',
  ]
  t.strictSame(new Set(packages), new Set(expected.map((path) => join(base, 'app', path))))
  t.strictSame(links, [{ path: join(base, 'app/node_modules/p'), target: join(base, 'app/p') }])
})

t.test('a lone file reads itself, the package.json above it, and what that depends on', async (t) => {
  const base = grow(t, {
    'app/package.json': json({ dependencies: { a: '1' } }),
    'app/.env': 'SECRET=1',
    'app/lib/plugin.js': 'export default 1',
    'app/lib/other.js': '',
    'app/node_modules/a/package.json': json({}),
    'app/node_modules/c/package.json': json({}),
    'node_modules/@claimcheck/core/package.json': json({}),
  })
  const plugin = await locatePlugin('./lib/plugin.js', join(base, 'app'))
  t.strictSame(plugin.files, [join(base, 'app/lib/plugin.js'), join(base, 'app/package.json')])
  t.strictSame(
    new Set(plugin.packages),
    new Set(['app/node_modules/a', 'node_modules/@claimcheck/core'].map((path) => join(base, path))),
  )
  t.equal(plugin.root, undefined)
  t.equal(plugin.codeHash, `sha256:${sum(join(base, 'app/lib'), 'sha256sum < plugin.js')}`)
})

t.test('what a plugin imports is found in the sandbox, however it is installed', async (t) => {
  const module = "import { word } from 'a'; import { readFileSync } from 'node:fs'; process.stdout.write(word)"
  const a = { exports: './a.js', dependencies: { b: '1' } }
  const rows: [what: string, tree: Tree, use: string][] = [
    [
      'npm',
      {
        'app/node_modules/some-plugin/package.json': json({ dependencies: { a: '1' } }),
        'app/node_modules/some-plugin/index.js': module,
        'app/node_modules/a/package.json': json(a),
        'app/node_modules/a/a.js': "export { word } from 'b'",
        'app/node_modules/b/package.json': json({}),
        'app/node_modules/b/index.js': "export const word = 'found'",
      },
      'some-plugin',
    ],
    [
      'workspaces',
      {
        'plugins/one/package.json': json({ dependencies: { a: '1' } }),
        'plugins/one/index.js': module,
        'node_modules/a': '-> ../packages/a',
        'packages/a/package.json': json(a),
        'packages/a/a.js': "export { word } from 'b'",
        'node_modules/b': '-> ../packages/b',
        'packages/b/package.json': json({}),
        'packages/b/index.js': "export const word = 'found'",
      },
      '../plugins/one',
    ],
    [
      'pnpm',
      {
        'app/node_modules/some-plugin': '-> .pnpm/some-plugin@1/node_modules/some-plugin',
        'app/node_modules/.pnpm/some-plugin@1/node_modules/some-plugin/package.json': json({
          dependencies: { a: '1' },
        }),
        'app/node_modules/.pnpm/some-plugin@1/node_modules/some-plugin/index.js': module,
        'app/node_modules/.pnpm/some-plugin@1/node_modules/a': '-> ../../a@1/node_modules/a',
        'app/node_modules/.pnpm/a@1/node_modules/a/package.json': json(a),
        'app/node_modules/.pnpm/a@1/node_modules/a/a.js': "export { word } from 'b'",
        'app/node_modules/.pnpm/a@1/node_modules/b': '-> ../../b@1/node_modules/b',
        'app/node_modules/.pnpm/b@1/node_modules/b/package.json': json({}),
        'app/node_modules/.pnpm/b@1/node_modules/b/index.js': "export const word = 'found'",
      },
      'some-plugin',
    ],
    [
      'a folder node_modules that is a link',
      {
        'app/p/package.json': json({ dependencies: { a: '1' } }),
        'app/p/index.js': module,
        'app/node_modules': '-> ../store',
        'store/a/package.json': json({ exports: './a.js' }),
        'store/a/a.js': "export const word = 'found'",
      },
      './p',
    ],
    [
      'a lone file',
      {
        'app/package.json': json({ dependencies: { a: '1' } }),
        'app/lone.js': module,
        'app/node_modules/a/package.json': json({ exports: './a.js' }),
        'app/node_modules/a/a.js': "export const word = 'found'",
      },
      './lone.js',
    ],
    [
      'a scope that is a link',
      {
        'app/lone.mjs': module.replace("'a'", "'@a/a'"),
        'app/package.json': json({ dependencies: { '@a/a': '1' } }),
        'app/node_modules/@a': '-> ../../ours',
        'ours/a': '-> ../a',
        'a/package.json': json({ exports: './a.js' }),
        'a/a.js': "export const word = 'found'",
      },
      './lone.mjs',
    ],
  ]
  for (const isolation of ['full', 'open'] as const) {
    const problem = await isolationProblem(isolation)
    if (problem !== undefined) {
      t.comment(`skipped: ${problem}`)
      continue
    }
    for (const [what, tree, use] of rows) {
      const base = grow(t, tree)
      // As root, the plugin runs as another user.
      execFileSync('chmod', ['-R', 'a+rX', base])
      const plugin = await locatePlugin(use, join(base, 'app'))
      const child = startSandboxed({ entry: plugin.entry, readable: plugin, isolation })
      const [printed, wrong] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'close')])
      t.equal(printed, 'found', `${what}, ${isolation}: ${wrong}`)
    }
  }
})

/** What a command of the shell prints first. */
function sum(cwd: string, command: string): string {
  return execFileSync('sh', ['-c', command], { cwd, encoding: 'utf8' }).split(' ')[0]!
}

const RECOMPUTED = String.raw`find . -mindepth 1 \( -name '.*' -o -name node_modules \) -prune -o -type f -printf '%P\n' |
  LC_ALL=C sort | xargs -d '\n' sha256sum | sha256sum`

t.test('anyone can recompute the digest of a package, of its own files alone', async (t) => {
  const tree: Tree = {
    'app/p/package.json': json({}),
    'app/p/index.js': 'export default 1',
    'app/p/lib/Z.js': '1',
    'app/p/lib/a.js': '2',
    'app/p/lib-b/é ü.js': '3',
    'app/p/empty': '',
  }
  const hidden: Tree = { 'app/p/node_modules/x/index.js': '', 'app/p/.git/HEAD': '', 'app/p/lib/.env': '' }
  const root = (added: Tree) => join(grow(t, { ...tree, ...added }), 'app/p')
  const digest = await codeHashOf(root({}))
  t.equal(digest, `sha256:${sum(root({}), RECOMPUTED)}`)
  t.equal(await codeHashOf(root(hidden)), digest)
  t.equal(await codeHashOf('plugins/codehost'), `sha256:${sum('plugins/codehost', RECOMPUTED)}`)
  const others = [
    { 'app/p/new': '' },
    { 'app/p/index.js': 'export default 2' },
    { 'app/p/current': 'lib' },
    { 'app/p/current': '-> lib' },
    { 'app/p/current': '-> lib-b' },
  ]
  const digests = await Promise.all(others.map((added) => codeHashOf(root(added))))
  t.equal(new Set([digest, ...digests]).size, others.length + 1)
  const link = { 'app/p/current': '-> lib' }
  const withLink = `( find . -mindepth 1 -type f -printf '%P\\n' | xargs -d '\\n' sha256sum; echo "$(printf lib | sha256sum | cut -c1-64) @current" ) |
    LC_ALL=C sort -k 1.67 | sha256sum`
  t.equal(await codeHashOf(root(link)), `sha256:${sum(root(link), withLink)}`)
})

t.test('a package has bounds', LONG, async (t) => {
  const many = grow(t, folder())
  for (let index = 2; index < MOST_FILES; index++) writeFileSync(join(many, 'app/p', String(index)), '')
  t.ok((await locatePlugin('./p', join(many, 'app'))).root)
  writeFileSync(join(many, 'app/p/last'), '')
  t.equal(await codeOf(locatePlugin('./p', join(many, 'app'))), 'too_large')
  const large = grow(t, folder({}, { 'app/p/large': '' }))
  truncateSync(join(large, 'app/p/large'), MOST_BYTES + 1)
  t.equal(await codeOf(locatePlugin('./p', join(large, 'app'))), 'too_large')
  t.equal(await codeOf(locatePlugin('./large', join(large, 'app/p'))), 'too_large')
})

t.test('a package with what is no file is refused: to read it could take forever', async (t) => {
  const base = grow(t, folder())
  execFileSync('mkfifo', [join(base, 'app/p/pipe')])
  t.equal(await codeOf(locatePlugin('./p', join(base, 'app'))), 'unlisted_file')
  t.equal(await codeOf(locatePlugin('./p/pipe', join(base, 'app'))), 'not_a_plugin')
})

t.test('the plugins that come with the server are trusted by their place and their digest', async (t) => {
  for (const name of ['codehost', 'anchor-eas', 'http']) {
    t.ok(await isShipped(await locatePlugin(`@claimcheck/plugin-${name}`, '.')))
    t.ok(await isShipped(await locatePlugin(`./plugins/${name}`, '.')))
  }
  t.notOk(await isShipped(await locatePlugin('@claimcheck/core/plugin', '.')))

  // A whole installation elsewhere, whose plugin someone edits.
  const base = grow(t, {})
  const root = join(base, 'plugins/codehost')
  for (const path of ['server/dist/plugins/shipped.js', 'server/dist/shipped-plugins.json', 'plugins/codehost']) {
    cpSync(path, join(base, path), { recursive: true })
  }
  const { codeHash } = await locatePlugin('./plugins/codehost', '.')
  const copied = await locatePlugin(root, join(base, 'app'))
  t.equal(copied.codeHash, codeHash)
  t.notOk(await isShipped(copied), 'a copy is in another place')
  const installation: { isShipped: typeof isShipped } = await import(join(base, 'server/dist/plugins/shipped.js'))
  t.ok(await installation.isShipped(copied))
  appendFileSync(join(root, 'dist/index.js'), '\n')
  t.notOk(await installation.isShipped(await locatePlugin(root, join(base, 'app'))), 'an edited one is another')
  rmSync(join(base, 'server/dist/shipped-plugins.json'))
  t.notOk(await installation.isShipped(copied), 'without the list none is trusted')
  t.notOk(await isShipped({ root: resolve('plugins/codehost'), codeHash: copied.codeHash.replace(/.$/, 'x') }))
})
