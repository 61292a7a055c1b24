import { Type } from 'class-transformer';
import { IsDate, IsInt, IsMongoId, IsOptional, Max, Min } from 'class-validator';

export class FeedQuery {
  @IsOptional()
  @Type(() => Date)
  @IsDate()
  from?: Date;

  @Type(() => Date)
  @IsDate()
  to: Date;

  @IsOptional()
  @IsMongoId()
  lastoffsetid?: string;

  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(10_000)
  limit = 1000;
}
