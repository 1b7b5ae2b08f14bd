p='include/stonet/stonet.h'
s=open(p).read()
s=s.replace(".seed = 1, .level = 0.9}",".seed = 1}")
s=s.replace("is to be in its interval or set; default 0.9 */","is to be in its interval or set; 0: 0.9 */")
s=s.replace('''/* The fewest rows of a class in the calibration, and whether that is enough for sets by class. 0: not one. */
STONET_API int64_t stonet_model_calibration_rows(const stonet_model *model, int64_t class_code);
''','''/* The rows of the calibration: those of a class, or all (code -1). 0 when there was none. */
STONET_API int64_t stonet_model_calibration_rows(const stonet_model *model, int64_t code);
''')
s=s.replace('''Level and
   by_class are for intervals and sets, and for what stonet_score says of these. */''','''Level and
   by_class are for stonet_predict_interval, stonet_predict_set and what stonet_score says of these. */''')
open(p,'w').write(s)
