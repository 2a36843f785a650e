/** The files of a new package that are not the template's: how it is built, tested and published. */

/** The dependencies of a new package, by exact version, so that it builds tomorrow as it does today. */
export const VERSIONS = {
  '@claimcheck/core': '0.1.0',
  '@claimcheck/plugin-tools': '0.1.0',
  '@types/node': '20.19.25',
  typescript: '7.0.2',
} as const

type Dependency = keyof typeof VERSIONS

const pinned = (...names: Dependency[]) => Object.fromEntries(names.map((name) => [name, VERSIONS[name]]))

export function packageJson(name: string, action: string): object {
  return {
    name,
    version: '0.1.0',
    description: `Verifies claims of ${action} for Claimcheck.`,
    keywords: ['claimcheck-plugin'],
    type: 'module',
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
    files: ['dist', 'src', '!dist/test', '!src/test'],
    claimcheck: { conformance: './dist/test/conformance.js' },
    scripts: {
      build: 'tsc',
      test: 'tsc && node --test dist/test/conformance.test.js',
      destination: 'tsc && node dist/test/serve.js',
      try: 'tsc && node dist/test/serve.js claimcheck-plugin try . --claim claim.json --connection connection.json',
      prepublishOnly: 'npm test',
    },
    engines: { node: '>=20.19' },
    // npm signs where and from which commit the package was built, when a CI job publishes it.
    publishConfig: { access: 'public', provenance: true },
    dependencies: pinned('@claimcheck/core'),
    devDependencies: pinned('@claimcheck/plugin-tools', '@types/node', 'typescript'),
  }
}

export const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    rewriteRelativeImportExtensions: true,
    skipLibCheck: true,
    declaration: true,
    sourceMap: true,
    rootDir: 'src',
    outDir: 'dist',
    types: ['node'],
  },
  include: ['src'],
} as const

/** The `.gitignore` of a new package. It leaves out the options of a connection, which hold a token. */
export const GITIGNORE = 'node_modules/\ndist/\nconnection.json\n*.tgz\n'
