// Test run: end-to-end, slow, every-node
/** What is signed is what ran: the digest covers all that a plugin imports. Threat P5 of `security.md`. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { isolationProblem } from '@claimcheck/core/sandbox/problems'
import { copyCode } from '@claimcheck/server/plugins/isolation/code-copy'
import { locatePlugin } from '@claimcheck/server/plugins/package'
import { loadPlugins } from '@claimcheck/server/plugins/plugins'
import t, { type Test } from 'tap'
import { makePluginPackage, pluginChecking } from '../../../../test/support/plugin-package.ts'

const silent = () => {}
const logger = { debug: silent, info: silent, warn: silent, child: () => logger }
const ISOLATIONS = ['full', 'open'] as const

/** A plugin as an operator has it, with this code before its own. */
function pluginWith(t: Test, code: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'some-plugin-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'acme.js'), `${code}\n${pluginChecking('')}`)
  return makePluginPackage(folder, join(folder, 'acme.js'))
}

/** A package that a plugin depends on, where npm installs it. */
function install(root: string, name: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    const file = join(root, 'node_modules', name, path)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, text)
  }
}

async function load(t: Test, use: string, isolation: (typeof ISOLATIONS)[number] = 'full') {
  const folder = join(use, '..')
  const config = {
    plugins: [{ use, with: {}, ...(isolation === 'open' ? { isolation } : {}) }],
    pluginDir: folder,
    dataDir: join(folder, 'data'),
  }
  const { plugins } = await loadPlugins(config, { logger, now: Date.now })
  t.teardown(() => plugins[0]!.parts.close())
  return plugins[0]!
}

const depending = (root: string, ...names: readonly string[]) => {
  const dependencies = Object.fromEntries(['@claimcheck/core', ...names].map((name) => [name, '*']))
  const json = { name: 'acme-plugin', version: '1.2.3', type: 'module', exports: './index.js', dependencies }
  writeFileSync(join(root, 'package.json'), JSON.stringify(json))
}

t.test('what is linked into the copy keeps its modes', async (t) => {
  const program = 'core/cli/bin/claimcheck-cli.js'
  await load(t, pluginWith(t, ''))
  t.ok(statSync(program).mode & 0o100, 'it can be executed')
})

/** Ways to run code that is in no file of the package. Each is an expression that fails. */
const FROM_ELSEWHERE: Readonly<Record<string, string>> = {
  'a module in its address': `await import('data:text/javascript,export default 1')`,
  eval: `eval('1')`,
  'a function of a text': `new Function('return 1')()`,
  'an asynchronous function of a text': `await (async () => {}).constructor('return 1')()`,
  'a script': `(await import('node:vm')).runInThisContext('1')`,
  'a script that is compiled': `new (await import('node:vm')).Script('1').runInThisContext()`,
  'a script by the other way to a built-in module': `process.getBuiltinModule('node:vm').runInNewContext('1')`,
  'a module of CommonJS': `new (await import('node:module')).Module('x')._compile('1', '/x.js')`,
  'the text of another file': `new (await import('node:module')).Module('x')._compile('1', (await import('node:url')).fileURLToPath(import.meta.url))`,
  'WebAssembly of bytes': `new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))`,
  'a hidden file': `await import('./.hidden/code.js')`,
  'a package that is no dependency': `await import('undeclared')`,
  'a worker': `new (await import('node:worker_threads')).Worker('1', { eval: true })`,
  'a debugger': `new (await import('node:inspector')).Session().connect()`,
}

/** What a plugin may put in place of what loads its files, so that they seem to hold `EVIL`, and which of two files it then loads. */
const EVIL = 'globalThis.hasRun = true'
const IN_PLACE: readonly (readonly [object: string, name: string, value: string, file: 'esm' | 'cjs'])[] = [
  ...(['esm', 'cjs'] as const).flatMap((file) =>
    [
      ['fs', 'readFileSync', '() => EVIL'],
      ['fs.promises', 'readFile', 'async () => Buffer.from(EVIL)'],
      ['TextDecoder.prototype', 'decode', '() => EVIL'],
      ['String.prototype', 'replace', '() => EVIL'],
      ['Reflect', 'apply', '(work, self) => own.call(Reflect, work, self, [EVIL, "/x.js"])'],
      ['Object.prototype', 'source', 'EVIL'],
      ['module', 'wrap', '() => own(EVIL)'],
      ['module.wrapper', '0', 'EVIL + own'],
      ['Promise.prototype', 'then', 'function (then) { return own.call(this, () => then(Buffer.from(EVIL))) }'],
    ].map(([object, name, value]) => [object!, name!, value!, file] as const),
  ),
  ['RegExp.prototype', 'test', '() => true', 'esm'],
  ['RegExp.prototype', 'exec', '() => []', 'esm'],
]
const HOOKS = {
  load: `load: (url, context, next) =>
    url.includes('of-hooks') ? { format: 'module', source: EVIL, shortCircuit: true } : next(url, context)`,
  resolve: `resolve: (specifier, context, next) =>
    specifier.includes('of-hooks') ? { url: 'data:text/javascript,' + EVIL, shortCircuit: true } : next(specifier, context)`,
}

for (const isolation of ISOLATIONS) {
  const skip = (await isolationProblem(isolation)) ?? false

  t.test(`a plugin that replaces what loads its files runs what is in them, ${isolation}`, { skip }, async (t) => {
    const attempts = IN_PLACE.map(([object, name, value, file], index) => {
      const load = file === 'esm' ? `await import('./lib/${index}.js')` : `require('./lib/${index}.cjs')`
      return `await attempt(${JSON.stringify(`${object}.${name}, ${file}`)}, async () => {
        const own = ${object}[${JSON.stringify(name)}]
        try {
          ${object}[${JSON.stringify(name)}] = ${value}
          syncBuiltinESMExports()
          try { new module('x')._compile(EVIL, '/x.js') } catch {}
          try { await import('data:text/javascript,' + EVIL) } catch {}
          ${load}
        } finally {
          ${object}[${JSON.stringify(name)}] = own
        }
      })`
    })
    const hooks = Object.entries(HOOKS).map(
      ([name, hook]) => `await attempt('${name}', async () => {
        module.registerHooks({ ${hook} })
        await import('./lib/of-hooks-${name}.js')
      })`,
    )
    const use = pluginWith(
      t,
      `import fs from 'node:fs'
      import module, { createRequire, syncBuiltinESMExports } from 'node:module'
      const EVIL = ${JSON.stringify(EVIL)}
      const require = createRequire(import.meta.url)
      const ran = []
      async function attempt(what, work) {
        try { await work() } catch {}
        if (globalThis.hasRun) ran.push(what)
        globalThis.hasRun = false
      }
      ${[...attempts, ...hooks].join('\n')}
      if (ran.length > 0) throw new Error('ran: ' + ran.join('; '))`,
    )
    mkdirSync(join(use, 'lib'))
    const names = [...IN_PLACE.keys(), 'of-hooks-load', 'of-hooks-resolve']
    for (const name of names.flatMap((name) => [`${name}.js`, `${name}.cjs`])) writeFileSync(join(use, 'lib', name), '')
    t.match((await load(t, use, isolation)).parts.state(), { status: 'running' })
  })

  t.test(`a plugin runs code of its files only, ${isolation}`, { skip }, async (t) => {
    const attempts = Object.entries(FROM_ELSEWHERE).map(
      ([what, code]) => `try { ${code}; ran.push(${JSON.stringify(what)}) } catch {}`,
    )
    const verdict = `if (ran.length > 0) throw new Error('ran: ' + ran.join(', '))`
    const use = pluginWith(t, `const ran = []\n${attempts.join('\n')}\n${verdict}`)
    mkdirSync(join(use, '.hidden'))
    writeFileSync(join(use, '.hidden/code.js'), '')
    install(use, 'undeclared', { 'package.json': '{}', 'index.js': '' })
    t.match((await load(t, use, isolation)).parts.state(), { status: 'running' })
  })

  t.test(`modules, and packages of both kinds, are imported as ever, ${isolation}`, { skip }, async (t) => {
    const use = pluginWith(
      t,
      `import esm from 'esm'\nimport cjs from 'cjs'\nimport { own } from './lib/own.js'
      if (esm + cjs.value + own !== 6) throw new Error('another sum')`,
    )
    mkdirSync(join(use, 'lib'))
    writeFileSync(join(use, 'lib/own.js'), `export const own = 3`)
    install(use, 'esm', { 'package.json': '{"type":"module","exports":"./a.js"}', 'a.js': 'export default 1' })
    install(use, 'cjs', {
      'package.json': '{"main":"a.js"}',
      'a.js': `module.exports = require('./b.js')`,
      'b.js': `exports.value = 2`,
    })
    depending(use, 'esm', 'cjs')
    t.match((await load(t, use, isolation)).parts.state(), { status: 'running' })
  })
}

const skip = (await isolationProblem()) ?? false

t.test('the digest covers what is imported, and not where it is installed', { skip }, async (t) => {
  const dependent = (change: (root: string) => void) => {
    const use = pluginWith(t, `import 'dep'`)
    install(use, 'dep', { 'package.json': '{"name":"dep","version":"2.0.0"}', 'index.js': '' })
    depending(use, 'dep')
    change(use)
    return load(t, use)
  }
  const { codeHash } = (await dependent(() => {})).identity
  const changed = {
    'a dependency': (root: string) => appendFileSync(join(root, 'node_modules/dep/index.js'), '//'),
    'another version': (root: string) => install(root, 'dep', { 'package.json': '{"name":"dep","version":"2.0.1"}' }),
    'its own file': (root: string) => appendFileSync(join(root, 'index.js'), '//'),
  }
  for (const [what, change] of Object.entries(changed)) {
    t.not((await dependent(change)).identity.codeHash, codeHash, what)
  }
  const same = {
    'a hidden file': (root: string) => writeFileSync(join(root, '.env'), 'SECRET=1'),
    'a package that is no dependency': (root: string) => install(root, 'other', { 'index.js': '1' }),
    'installed above': (root: string) => {
      mkdirSync(join(root, '../node_modules'))
      execFileSync('mv', [join(root, 'node_modules/dep'), join(root, '../node_modules/dep')])
    },
  }
  for (const [what, change] of Object.entries(same)) {
    t.equal((await dependent(change)).identity.codeHash, codeHash, what)
  }
})

t.test('a file that changes after the start changes nothing that runs', { skip }, async (t) => {
  const use = pluginWith(t, `setTimeout(() => process.exit(1), 300)`)
  const state = (await load(t, use)).parts.state as () => { readonly status: string; readonly restarts: number }
  writeFileSync(join(use, 'index.js'), 'throw new Error("other code")')
  const end = performance.now() + 20_000
  while ((state().restarts < 2 || state().status !== 'running') && performance.now() < end) await setTimeout(20)
  t.match(state(), { status: 'running' })
})

t.test('a dependency that is a link to a folder elsewhere is refused: all in it could be read', { skip }, async (t) => {
  const use = pluginWith(t, '')
  mkdirSync(join(use, '../project'))
  for (const name of ['package.json', '.env', 'config.json']) writeFileSync(join(use, '../project', name), '{}')
  symlinkSync(join(use, '../project'), join(use, 'node_modules/project'))
  depending(use, 'project')
  await t.rejects(load(t, use), /it depends on .*project, which is a folder outside node_modules: install .* npm pack/)
})

t.test('the copy is removed when the service ends, and when it was killed by the next', { skip }, async (t) => {
  const copies = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`claimcheck-plugin-${process.pid}-`))
  const before = copies().length
  const plugin = await load(t, pluginWith(t, ''))
  t.equal(copies().length, before + 1)
  await plugin.parts.close()
  t.equal(copies().length, before)
  await t.rejects(load(t, pluginWith(t, `throw new Error('on purpose')`)), /on purpose/)
  t.equal(copies().length, before)
  const { pid } = spawnSync('true')
  const left = join(tmpdir(), `claimcheck-plugin-${pid}-x`)
  mkdirSync(left)
  await load(t, pluginWith(t, ''))
  t.notOk(readdirSync(tmpdir()).includes(`claimcheck-plugin-${pid}-x`))
})

t.test('no file of the copy becomes so old that the system would remove it', async (t) => {
  const use = pluginWith(t, '')
  const copy = await copyCode(await locatePlugin(use, join(use, '..')), [], 50)
  t.teardown(copy.remove)
  const folder = copy.entry.slice(0, copy.entry.indexOf('/', tmpdir().length + 1))
  const paths = [folder, dirname(copy.entry), copy.entry, ...copy.readable.links.map(({ path }) => path)]
  const isOld = (path: string) => lstatSync(path).mtimeMs < 1_000_000
  const linked = join(use, 'index.js')
  symlinkSync(use, join(folder, 'link'))
  for (const path of [...paths, linked]) lutimesSync(path, 1, 1)
  for (const end = performance.now() + 10_000; paths.some(isOld) && performance.now() < end; ) await setTimeout(20)
  t.notOk(paths.some(isOld))
  await setTimeout(200)
  t.ok(isOld(linked), 'and what a link leads to is left alone')
})
