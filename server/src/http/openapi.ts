/** The OpenAPI description, generated from the schemas that the routes validate with. */
import { STATUS_CODES } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import swagger from '@fastify/swagger'
import type { App } from './instance.ts'

/** The version of the API, which is independent of the program's version. */
const API_VERSION = '0.1.0'

type Json = Record<string, unknown>

/** How requests may be authenticated, as OpenAPI says it. */
export type SecuritySchemes = Readonly<Record<string, object>>

/** Call it before the routes are declared, because it records them as they are. */
export async function describeApi(
  app: App,
  publicUrl: string | undefined,
  securitySchemes: SecuritySchemes,
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Claimcheck',
        version: API_VERSION,
        description:
          'Checks claims of software agents by reading the destination itself, and issues receipts that anyone can check.',
      },
      ...(publicUrl === undefined ? {} : { servers: [{ url: publicUrl }] }),
      components: {
        securitySchemes: securitySchemes as Record<string, never>,
      },
    },
    // A route names every way to authenticate, also one that this service does without.
    transform: ({ schema, url }) => {
      const security = schema?.security?.filter((ways) => Object.keys(ways).every((way) => way in securitySchemes))
      return { schema: security ? { ...schema, security } : schema, url }
    },
    transformObject: (document) => {
      if (!('openapiObject' in document)) return document.swaggerObject
      return withNamedSchemas(document.openapiObject as Json)
    },
  })
}

/** Moves each schema with a title to the components, so that readers see its name and generated clients get a type. */
function withNamedSchemas(document: Json): Json {
  const schemas: Json = {}

  function hoist(value: unknown, name: string | undefined): unknown {
    if (typeof value !== 'object' || value === null || DATA_KEYWORDS.has(name)) return value
    if (Array.isArray(value)) return value.map((item) => hoist(item, name === 'parameters' ? 'parameter' : undefined))
    const copy = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, hoist(member, key)]))
    if (name === 'responses') return describeResponses(copy as Record<string, Json>)
    if (name === 'parameter') return { ...copy, required: copy.required && !hasDefault(copy.schema) }
    const { title } = copy
    if (typeof title !== 'string' || name === 'info') return copy
    schemas[title] ??= copy
    // Two plugins may use the same title for different schemas.
    if (!isDeepStrictEqual(schemas[title], copy)) return copy
    return { $ref: `#/components/schemas/${title}` }
  }

  const named = hoist(document, undefined) as Json & { components: Json }
  return { ...named, components: { ...named.components, schemas } }
}

/** A parameter with a default is optional, although its schema, after defaults are applied, requires it. */
function hasDefault(schema: unknown): boolean {
  return (schema as Json).default !== undefined
}

// The values of these keywords are data, even when they look like schemas.
const DATA_KEYWORDS: ReadonlySet<string | undefined> = new Set(['examples', 'example', 'default', 'enum', 'const'])

function describeResponses(responses: Readonly<Record<string, Json>>): Json {
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [status, { ...response, description: STATUS_CODES[status] }]),
  )
}
