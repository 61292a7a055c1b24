import type { mongo } from 'mongoose';

export declare const ORDER_KIND: {
  name: string;
  collection: string;
  id: string;
  lastupdated: string;
  data: boolean;
};

/** The order at a place, from 0 on. */
export declare function orderAt(place: number, seed?: number): mongo.Document & { _id: mongo.ObjectId };
