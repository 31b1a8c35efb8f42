// `node validate.mjs FILE`: validates an OpenAPI document with swagger-parser; throws with the reasons.

import SwaggerParser from '@apidevtools/swagger-parser';

await SwaggerParser.validate(process.argv[2]);
