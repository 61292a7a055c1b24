/** express-restify-mongoose over the same products, lean, as its README sets it up; settings come from the environment. */
import { Buffer } from 'node:buffer';
import { createRequire } from 'node:module';

const { INSTALLED, MONGODB_URI, PORT, API_USERNAME, API_PASSWORD } = process.env;
const require = createRequire(`${INSTALLED}/package.json`);
const express = require('express');
const methodOverride = require('method-override');
const mongoose = require('mongoose');
const restify = require('express-restify-mongoose');

const expected = `Basic ${Buffer.from(`${API_USERNAME}:${API_PASSWORD}`).toString('base64')}`;

const product = new mongoose.Schema(
  {
    organizationid: String,
    appid: String,
    id: String,
    type: String,
    createdBy: String,
    data: mongoose.Schema.Types.Mixed,
    channels: [String],
  },
  {
    collection: 'products',
    id: false,
    versionKey: false,
    timestamps: { createdAt: 'createDate', updatedAt: 'lastupdated' },
  },
).index({ lastupdated: 1 });

await mongoose.connect(MONGODB_URI);
await mongoose.model('Product', product).init();

const app = express();
app.use(express.json());
app.use(methodOverride());
app.use((request, response, next) => {
  if (request.headers.authorization === expected) next();
  else response.status(401).end();
});
const router = express.Router();
restify.serve(router, mongoose.model('Product'), { lean: true, totalCountHeader: false });
app.use(router);
app.listen(Number(PORT), '127.0.0.1');
