/** How the server's modules become few files: each start would load a thousand of them one by one, which takes most of the start. */
import { readFile, rm } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { type BuildResult, build, type Plugin } from 'esbuild'

/** What is shared with plugins, has parts that are no JavaScript, is loaded when it is needed, or is not installed. */
const OUTSIDE = [
  ...['@claimcheck/core', '@claimcheck/core/*', '@claimcheck/create-plugin'],
  ...['sqlite3', 'pkcs11js', 'sodium-native', '@node-rs/argon2', '@fastify/swagger-ui'],
  ...['oidc-provider', '@simplewebauthn/server', 'openid-client', 'nodemailer'],
  ...[
    '@modelcontextprotocol/server',
    '@modelcontextprotocol/server/*',
    '@modelcontextprotocol/fastify',
    '@claimcheck/client',
  ],
  ...['better-sqlite3', 'mariadb', 'mysql', 'mysql2', 'oracledb', 'pg-native', 'pg-query-stream', 'tedious'],
]

/** For the packages among it that are CommonJS. */
const COMMON_JS = `
  import { createRequire as createRequireHere } from 'node:module';
  const require = createRequireHere(import.meta.url);
  const __filename = import.meta.filename, __dirname = import.meta.dirname;
`

interface Bundle {
  /** Built modules, by the names of their files in the folder. */
  readonly entryPoints: Readonly<Record<string, string>>
  readonly folder: string
}

export async function bundle({ entryPoints, folder }: Bundle): Promise<BuildResult<{ metafile: true }>> {
  // Under their names are those that are built now, and none of before.
  await rm(folder, { recursive: true, force: true })
  return build({
    entryPoints: { ...entryPoints },
    outdir: folder,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Fewer characters to read; names stay for stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    external: OUTSIDE,
    banner: { js: COMMON_JS },
    plugins: [inPlace({ entryPoints, folder })],
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
  })
}

/** The server's modules find what lies beside them where they were, and the threads that they start among the entry points. */
function inPlace({ entryPoints, folder }: Bundle): Plugin {
  const bundled = new Map(Object.entries(entryPoints).map(([name, file]) => [resolve(file), `./${name}.js`]))
  return {
    name: 'in-place',
    setup({ onLoad }) {
      onLoad({ filter: /\/server\/dist\/.*\.js$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8')
        const here = `new URL(${JSON.stringify(relative(resolve(folder), path))}, import.meta.url)`
        const contents = text.replaceAll(/(new URL\('([^']+)', )?import\.meta\.url/g, (_, begin = '', file) => {
          const entry = file && bundled.get(resolve(dirname(path), file))
          return entry ? `new URL('${entry}', import.meta.url` : `${begin}${here}.href`
        })
        return { contents }
      })
    },
  }
}
