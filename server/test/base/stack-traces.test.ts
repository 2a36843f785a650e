import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { nameSources } from '@claimcheck/server/base/stack-traces'
import { build } from 'esbuild'
import t from 'tap'

const { prepareStackTrace } = Error
t.afterEach(() => {
  Error.prepareStackTrace = prepareStackTrace!
})

/** A module that was made of another one, whose third line throws. */
async function bundled(folder: string, name: string, sourcemap: boolean): Promise<() => never> {
  await writeFile(
    join(folder, `${name}.ts`),
    'interface Unused {}\nexport function fail(): never {\n  throw new Error("it failed")\n}\n',
  )
  const outfile = join(folder, 'program', `${name}.js`)
  await build({ entryPoints: [join(folder, `${name}.ts`)], outfile, sourcemap, bundle: true, format: 'esm' })
  return (await import(pathToFileURL(outfile).href)).fail
}

function traceOf(work: () => never): string {
  try {
    return work()
  } catch (error) {
    return (error as Error).stack!
  }
}

t.test('a trace names the place in the source, and not that in the bundle', async (t) => {
  const folder = t.testdir()
  const program = pathToFileURL(join(folder, 'program/'))
  const fail = await bundled(folder, 'mapped', true)
  nameSources(program)
  const trace = traceOf(fail)
  t.match(trace, /^Error: it failed\n {4}at fail \(file:.*\/mapped\.ts:3:9\)\n/)
  t.match(trace, /stack-traces\.test\./, 'what is outside of the bundle is named as ever')
})

t.test('without a map, a trace names the place in the bundle', async (t) => {
  const folder = t.testdir()
  const fail = await bundled(folder, 'unmapped', false)
  nameSources(pathToFileURL(join(folder, 'program/')))
  t.match(traceOf(fail), /^Error: it failed\n {4}at fail \(file:.*\/program\/unmapped\.js:\d+:\d+\)\n/)
})

t.test('a trace of what cannot be described is a trace all the same', async (t) => {
  nameSources(pathToFileURL(t.testdir()))
  const error = new Error('x')
  Object.defineProperty(error, 'message', {
    get: () => {
      throw new Error('no message')
    },
  })
  t.match(error.stack, /^Error\n {4}at /)
})
