/**
 * Part of `npm run build`: the hosts that tests kill and start again, with most of what they import, as few files in `build/bundled`.
 * Each start of one would load a thousand modules, which takes most of the start.
 */
import { readFile, rm } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

const FOLDER = 'build/bundled'
/** What is shared with plugins, has parts that are no JavaScript, is loaded when it is needed, or is not installed. */
const OUTSIDE = [
  ...['@claimcheck/core', '@claimcheck/core/*'],
  ...['sqlite3', '@node-rs/argon2', '@fastify/swagger-ui'],
  ...['oidc-provider', '@simplewebauthn/server', 'openid-client'],
  ...['better-sqlite3', 'mariadb', 'mysql', 'mysql2', 'oracledb', 'pg-native', 'pg-query-stream', 'tedious'],
]

/** For the packages among it that are CommonJS. */
const COMMON_JS = `
  import { createRequire as createRequireHere } from 'node:module';
  const require = createRequireHere(import.meta.url);
  const __filename = import.meta.filename, __dirname = import.meta.dirname;
`

/** The server's modules find what lies beside them where they were. */
const inPlace: Plugin = {
  name: 'in-place',
  setup({ onLoad }) {
    onLoad({ filter: /\/server\/dist\/.*\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      return { contents: text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)) }
    })
  },
}

// Under their names are those that are built now, and none of before.
await rm(FOLDER, { recursive: true, force: true })
await build({
  entryPoints: ['build/test/crash/host.js', 'build/test/crash/sequencer-thread.js'],
  outdir: FOLDER,
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  external: OUTSIDE,
  banner: { js: COMMON_JS },
  plugins: [inPlace],
  logLevel: 'warning',
})
