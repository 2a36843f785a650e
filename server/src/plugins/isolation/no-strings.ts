/**
 * Takes away what makes code of text or of bytes: what a plugin runs is in its files, which are signed for. The flags of the process refuse
 * `eval` and `new Function`. Imported before anything of the plugin.
 */
import { readFileSync } from 'node:fs'
import module, { syncBuiltinESMExports } from 'node:module'
import vm from 'node:vm'

function refuse(): never {
  throw new Error('a plugin in the sandbox runs code of its files only')
}

for (const name of Object.keys(vm)) (vm as unknown as Record<string, unknown>)[name] = refuse

// The loader of CommonJS compiles by this, too.
const prototype = (module as unknown as { prototype: { _compile: (...args: unknown[]) => unknown } }).prototype
const compile = prototype._compile
prototype._compile = function (this: unknown, content: unknown, filename: unknown, ...rest: unknown[]) {
  if (String(content) !== readFileSync(String(filename), 'utf8').replace(/^\uFEFF/, '')) refuse()
  return Reflect.apply(compile, this, [content, filename, ...rest])
}
syncBuiltinESMExports()

// A destination could send its bytes. Node's own `fetch`, which comes with `Response`, compiles its parser as it loads, and would end the
// process if that failed; it has nothing to parse here.
Object.defineProperty(globalThis, 'WebAssembly', { value: { compile: () => new Promise(() => {}) } })

// Node 20 has no hooks: there a policy refuses the same, in `sandbox.ts`.
;(module as { registerHooks?: (hooks: object) => void }).registerHooks?.({
  resolve(specifier: string, context: unknown, next: (specifier: string, context: unknown) => { url: string }) {
    const resolved = next(specifier, context)
    return /^(?:file|node):/.test(resolved.url) ? resolved : refuse()
  },
})
