/** `npm run image`: builds the container image, and tries it as people run it: read-only, without capabilities, stopped and started again. */
import { buildDebianBase } from './image/debian-base.ts'
import { Engine } from './image/engine.ts'
import { tryImage } from './image/trial.ts'
import { readOptions } from './options.ts'

const USAGE = `Usage: npm run image -- [options]

Build the container image from server/deploy/Containerfile, and try it.

Options:
  --engine PROGRAM  docker or podman (default: podman)
  --runtime NAME    OCI runtime of the engine, such as runc (default: the engine's)
  --base IMAGE      image with Node.js (default: that of the Containerfile)
  --debian          make the base by debootstrap and npm, where nothing can be pulled; needs root
  --tag NAME        name of the image (default: localhost/claimcheck)
  --help            print this help`
const CONTAINERFILE = 'server/deploy/Containerfile'

const values = readOptions(USAGE, {
  engine: { type: 'string', default: 'podman' },
  runtime: { type: 'string' },
  base: { type: 'string' },
  debian: { type: 'boolean', default: false },
  tag: { type: 'string', default: 'localhost/claimcheck' },
})
const engine = new Engine(values.engine, values.runtime)
const base = values.debian ? await buildDebianBase(engine) : values.base
console.log(`Building ${values.tag}`)
await engine.build(['-f', CONTAINERFILE, '-t', values.tag, ...(base ? ['--build-arg', `BASE=${base}`] : []), '.'])
console.log(`  ${await megabytes(values.tag)} MB${base ? `, of which ${await megabytes(base)} MB are the base` : ''}`)
console.log('Trying it')
await tryImage(engine, values.tag, (step) => console.log(`  ${step}`))
console.log('The image works.')

async function megabytes(image: string): Promise<number> {
  return Math.round(Number(await engine.run(['image', 'inspect', '--format', '{{.Size}}', image])) / 1e6)
}
